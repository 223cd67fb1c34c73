import torch


def create_padding_mask(input_ids: torch.Tensor, pad_token_id: int) -> torch.Tensor:
    """Boolean mask, broadcast over the heads."""
    attend = torch.ne(input_ids, pad_token_id)
    return attend[:, None, :, None]
