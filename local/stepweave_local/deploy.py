"""Deploys the unchanged template to the emulator with the SAM CLI, when it is not deployed there already."""

import subprocess
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from stepweave.texts import Text
from stepweave_local.build import Build, last_line, sam_environment
from stepweave_local.project import REGION, LocalStackError, Project, architecture

STACK = "stepweave"
BUCKET = "stepweave-artifacts"
DIGEST_TAG = "stepweave:build"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": REGION}
"""Not a secret: the emulator takes anything, and the SDKs insist on something."""

Outputs = dict[str, str]


def deploy(project: Project, endpoint_url: str, build: Build, log: Path) -> tuple[Outputs, bool]:
    """The outputs of the deployed stack, and whether it had to be deployed. Raises `LocalStackError`."""
    outputs = deployed(endpoint_url, build.digest)
    if outputs is not None:
        return outputs, False
    _make_bucket(endpoint_url)
    _sam_deploy(project, endpoint_url, build, log)
    outputs = deployed(endpoint_url, build.digest)
    if outputs is None:
        raise LocalStackError(
            Text(
                f"部署结束，但模拟器中没有该堆栈：请查看 {log}，必要时删除数据目录后重试。",
                f"The deployment ended, but the emulator does not have the stack: see {log}; if need be, delete the data directory and try again.",
            )
        )
    return outputs, True


def deployed(endpoint_url: str, digest: str) -> Outputs | None:
    """The outputs of the stack when it stands complete and was made from that build, else None."""
    cloudformation = boto3.client(
        "cloudformation",
        endpoint_url=endpoint_url,
        region_name=REGION,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        config=Config(retries={"total_max_attempts": 2}),
    )
    try:
        [stack] = cloudformation.describe_stacks(StackName=STACK)["Stacks"]
    except ClientError:
        return None  # "does not exist" is a ValidationError
    tags = {tag["Key"]: tag["Value"] for tag in stack.get("Tags", [])}
    if stack["StackStatus"] not in {"CREATE_COMPLETE", "UPDATE_COMPLETE"} or tags.get(DIGEST_TAG) != digest:
        return None
    return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}


def _make_bucket(endpoint_url: str) -> None:
    boto3.client(
        "s3",
        endpoint_url=endpoint_url,
        region_name=REGION,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    ).create_bucket(Bucket=BUCKET)


def _sam_deploy(project: Project, endpoint_url: str, build: Build, log: Path) -> None:
    command = [
        *(str(project.sam()), "deploy", "--config-env", "local"),
        *("--stack-name", STACK, "--region", REGION, "--s3-bucket", BUCKET),
        *("--parameter-overrides", f"Architecture={architecture()}", "CallbackPrivateHosts=true"),
        *("--tags", f"{DIGEST_TAG}={build.digest}"),
    ]
    environment = sam_environment(project, AWS_ENDPOINT_URL=endpoint_url, **CREDENTIALS) | {
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    }
    with log.open("w") as output:
        done = subprocess.run(
            command, cwd=project.root, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode != 0:
        reason = last_line(log.read_text())
        raise LocalStackError(
            Text(
                f"部署到本地模拟器失败（sam deploy）：{reason}。完整输出见 {log}；若堆栈已损坏，请删除数据目录后重试。",
                f"Deploying to the emulator failed (sam deploy): {reason}. The whole output is in {log}; "
                "if the stack there is broken, delete the data directory and try again.",
            )
        )
