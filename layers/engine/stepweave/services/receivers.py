"""Who may be told of the end of a run, judged when the run is asked for (contract §4, "Callback")."""

from stepweave.errors import ValidationFailed
from stepweave.execution.callback import NewCallback
from stepweave.store.keys import ApiKey
from stepweave.texts import Text
from stepweave.web.addresses import AddressRefused


class Receivers:
    """`private_hosts`: the deployment allows hosts that are not public, and http."""

    def __init__(self, *, private_hosts: bool) -> None:
        self._private_hosts = private_hosts

    def accept(self, url: str, key: ApiKey) -> NewCallback:
        """Raises `ValidationFailed`. What a name stands for is looked up when it is called, and judged then."""
        from stepweave.web.posting import receiver  # the HTTP client is large, and few runs want a callback

        if not key.signs:
            raise ValidationFailed(
                Text(
                    "callbackUrl：该 API Key 没有回调签名密钥（创建于支持回调之前），请新建一个 API Key",
                    "callbackUrl: this API key is older than callbacks and has no secret to sign them: make a new key",
                )
            )
        try:
            receiver(url, private_hosts=self._private_hosts)
        except AddressRefused as refused:
            words = refused.text
            raise ValidationFailed(Text(f"callbackUrl：{words.zh}", f"callbackUrl: {words.en}")) from refused
        return NewCallback(url, key.key_id)
