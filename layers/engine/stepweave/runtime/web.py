"""The API as a Lambda function behind API Gateway: FastAPI through Mangum, with bounded answers instead of live streams."""

from mangum import Mangum

from stepweave.api.app import create_app
from stepweave.runtime.aws import engine, settings

handler = Mangum(create_app(engine(), settings(), live=False), lifespan="off")
