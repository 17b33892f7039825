"""What a form with files may hold, and what to do where it holds more (contract §4)."""

from dataclasses import dataclass

from stepweave.api.body import MOST_BYTES
from stepweave.errors import PayloadTooLarge, ValidationFailed
from stepweave.graph.problem import quoted
from stepweave.services import skills
from stepweave.texts import Text

SKILLS_PATH = "/api/skills"

_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FormLimits:
    """`fields` are the names that parts may have, `instead` is what a client should do whose form is too large."""

    fields: tuple[str, ...]
    files: int
    file_bytes: int
    request_bytes: int
    instead: Text

    def request_too_large(self) -> PayloadTooLarge:
        return self._too_large(Text("请求体", "the request"), self.request_bytes)

    def file_too_large(self, index: int) -> PayloadTooLarge:
        return self._too_large(Text.same(f"files[{index}]"), self.file_bytes)

    def payload_too_large(self) -> PayloadTooLarge:
        return self._too_large(Text.same("payload"), MOST_BYTES)

    def too_many_files(self) -> PayloadTooLarge:
        return PayloadTooLarge(
            Text(
                f"一次最多上传 {self.files} 个文件，{self.instead.zh}",
                f"more than {self.files} files: {self.instead.en}",
            )
        )

    def unknown_field(self, name: str) -> ValidationFailed:
        return ValidationFailed(
            Text(
                f"multipart 部分 {quoted(name)} 不是已知字段，可用的有：{'、'.join(self.fields)}",
                f"the multipart part {quoted(name)} is not a known field, there are: {', '.join(self.fields)}",
            )
        )

    def _too_large(self, what: Text, most: int) -> PayloadTooLarge:
        megabytes = most // _MB if most % _MB == 0 else most // 1_000_000
        return PayloadTooLarge(
            Text(
                f"{what.zh} 超过 {megabytes} MB，{self.instead.zh}",
                f"{what.en} is larger than {megabytes} MB: {self.instead.en}",
            )
        )


RUN_FORM = FormLimits(
    fields=("payload", "files"),
    files=50,
    file_bytes=100 * _MB,
    request_bytes=500 * _MB,
    instead=Text(
        "请先以 JSON 创建运行，再用 POST …/runs/{runId}/uploads 获取上传地址",
        "create the run with JSON, and ask POST …/runs/{runId}/uploads where to put the files",
    ),
)

SKILL_FORM = FormLimits(
    fields=("files",),
    files=skills.MOST_FILES,
    file_bytes=skills.MOST_BYTES,
    request_bytes=skills.MOST_BYTES + _MB,  # the headers of the parts take some
    instead=Text(
        "请删去智能体用不到的文件，或拆成几个技能",
        "leave out the files that no agent needs, or make several skills of it",
    ),
)

SKILL_FORM_BEHIND_GATEWAY = FormLimits(
    fields=("files",),
    files=skills.MOST_FILES,
    file_bytes=4 * _MB,
    request_bytes=4 * _MB,  # Lambda takes 6 MB, and a gateway makes a third more of them
    instead=Text(
        "网关无法通过更大的请求：请从技能中删去大文件（例如写入 .agentignore），改为随运行上传，或拆成几个技能",
        "the gateway lets no more through: leave the large files out of the skill (name them in .agentignore) and send "
        "them along with the runs, or make several skills of it",
    ),
)


def limits_of(path: str) -> FormLimits:
    """What is refused unread, by the path that the form is sent to."""
    return SKILL_FORM if path == SKILLS_PATH else RUN_FORM
