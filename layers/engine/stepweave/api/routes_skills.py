"""The platform's API: skills, which agents use by name (contract §2 `agent.skillName`, §4; key scope `admin`)."""

from tempfile import TemporaryFile
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from stepweave.api.access import Admin
from stepweave.api.answers import answer
from stepweave.api.context import Api, ApiContext
from stepweave.api.form_limits import SKILL_FORM, SKILL_FORM_BEHIND_GATEWAY
from stepweave.api.multipart import is_multipart, read_form
from stepweave.api.paging import PageNumber, PageSize, cut
from stepweave.api.submission import named
from stepweave.errors import UnsupportedMediaType
from stepweave.texts import Text

router = APIRouter(tags=["skills"])

_FOLDER = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "Each file of the folder; its path in it is the part's `X-Relative-Path`, "
                            "else its filename.",
                        }
                    },
                }
            }
        },
    }
}


@router.post("/skills", summary="Push a skill", openapi_extra=_FOLDER)
async def push(_: Admin, request: Request, api: ApiContext) -> Response:
    """A folder with `SKILL.md` at its top becomes the next version of the skill that it names. What the latest version
    holds already makes no new one. Runs use the version that was the newest when they started."""
    folder = await _sent_folder(request, api)
    return answer(await run_in_threadpool(api.skills.push, folder))


@router.get("/skills", summary="All skills")
def skills(_: Admin, api: ApiContext, page: PageNumber = 1, size: PageSize = 20) -> Response:
    """By name, each with its latest version."""
    found = api.skills.listed()
    return answer({"total": len(found), "items": cut(found, page, size)})


@router.get("/skills/{name}", summary="A skill with its instructions")
def show(
    _: Admin,
    name: Annotated[str, Path(description="The skill's name.", examples=["release-notes"])],
    api: ApiContext,
    version: Annotated[int | None, Query(ge=1, description="The latest by default.")] = None,
) -> Response:
    """`files` are those beside `SKILL.md`, with their sizes in bytes."""
    return answer(api.skills.show(name, version))


async def _sent_folder(request: Request, api: Api) -> dict[str, bytes]:
    if not is_multipart(request):
        raise UnsupportedMediaType(
            Text(
                "请以 multipart/form-data 发送技能文件夹中的文件（files）",
                "send the files of the skill's folder as multipart/form-data, in parts named files",
            )
        )
    with TemporaryFile() as disk:
        form = await read_form(request, disk, SKILL_FORM if api.live else SKILL_FORM_BEHIND_GATEWAY)
        files = named(form.files, ())
        return await run_in_threadpool(lambda: {file.path: b"".join(file.pieces()) for file in files})
