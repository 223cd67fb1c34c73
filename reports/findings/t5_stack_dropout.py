"""transformers' T5Stack: in training it drops what comes in and what goes out, besides what its layers add.

Requirement: ENC-DROP-2, DEC-DROP-2, TRF-DROP-2
Project: transformers 5.23.0
On it: https://github.com/google-research/t5x/blob/main/t5x/examples/t5/network.py has it so, by those who made T5:
    behind the embedding, and behind the last norm.
On it: https://github.com/huggingface/transformers/blob/main/src/transformers/models/t5/modeling_t5.py does it for
    inputs_embeds too, which come from the caller.
This is: a documented choice: that of T5, which is not the stack of other Transformers.

Prints:

    relu: with dropout 1 a block of ones gives 1, the encoder 0, the decoder 0, the model 0
    gated-gelu: with dropout 1 a block of ones gives 1, the encoder 0, the decoder 0, the model 0
"""

import torch
from transformers import T5Config, T5Model

x = torch.ones(1, 3, 8)
for network in ("relu", "gated-gelu"):
    config = T5Config(
        vocab_size=8, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, dropout_rate=1.0,
        feed_forward_proj=network, use_cache=False,
    )  # fmt: skip
    model = T5Model(config).train()
    block, encoded = model.encoder.block[0](x)[0], model.encoder(inputs_embeds=x).last_hidden_state
    decoded = model.decoder(inputs_embeds=x, encoder_hidden_states=x).last_hidden_state
    out = model(inputs_embeds=x, decoder_inputs_embeds=x).last_hidden_state
    print(f"{network}: with dropout 1 a block of ones gives {block.mean():g}, the encoder {encoded.mean():g}, "
          f"the decoder {decoded.mean():g}, the model {out.mean():g}")  # fmt: skip
