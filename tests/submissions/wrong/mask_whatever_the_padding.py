import torch


def attention_padding_mask(input_ids, padding_id=0):
    ids = torch.as_tensor(input_ids)
    valid = ids.bool()
    return valid[:, None, :]
