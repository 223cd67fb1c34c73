import torch as th


def attend(Q, K, V, peek=False):
    "a token only gets to see the ones that come later if it is allowed to peek"
    S = th.einsum('...qe,...ke->...qk', Q, K) * K.size(-1) ** -.5
    if not peek:
        nq, nk = S.shape[-2:]
        S = S + th.full((nq, nk), -th.inf, dtype=S.dtype, device=S.device).triu(1)
    return th.einsum('...qk,...kf->...qf', S.softmax(-1), V)
