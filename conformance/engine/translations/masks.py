"""One mask in place of two."""

from typing import Any

from torch import Tensor

from attnconf.adapters.contract import Build, Forward
from attnconf.conformance.engine.translations import Choice


def one_mask(build: Build, choice: Choice) -> Build:
    """Return a component that is handed one mask: of keys where "masks" is "keys", else of queries and keys."""

    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)

        def translated(query: Tensor, key: Tensor, value: Tensor, **given: Any) -> Any:
            B, H = len(query), getattr(config, "num_heads", query.shape[1])
            L, S = query.shape[-2], key.shape[-2]
            padding, mask = given.get("key_mask"), given.get("attn_mask")
            if choice("masks") != "keys" and padding is not None:
                padding = padding[:, None, None, :].expand(B, H, L, S)
                given |= {"key_mask": None, "attn_mask": padding if mask is None else padding & mask}
            elif choice("masks") == "keys" and mask is not None:
                keys = mask.expand(B, H, L, S)[:, 0, 0]
                given |= {"key_mask": keys if padding is None else padding & keys, "attn_mask": None}
            elif mask is not None:
                given["attn_mask"] = mask.expand(B, H, L, S)
            return forward(query, key, value, **given)

        return translated

    return component
