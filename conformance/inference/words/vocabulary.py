"""What people call things: names of parameters, of inputs and of classes, and what each may mean.

Counted in public implementations: the names that occur often come first (reports/studies/public_code.md has how often).
A name is a hypothesis, which is tried; none is taken for the truth.
"""

import re
from collections.abc import Mapping

from attnconf.conformance.chapters.contents import appearances

MOST_SAMPLES, SAMPLES = r"max_?(batch|bs|bsz)(_?sizes?)?", "512"  # for how many there is room: each query may be one
KEEPS = r"(?:keep|retain)_?(?:prob\w*|rate|p|fraction|share)|p_?keep"  # what a probability to keep is called
# Parameters of constructors, by what they may mean; one name may mean several things.
SIZES: Mapping[str, str] = {
    "embed": r"d_?model|model|dim|embed_?dim|embedding_?dim|emb_?dim|embed_?size|embedding_?size|emb_?size|emb|"
    r"hidden_?size|"
    r"hidden_?dim|hidden|hid_?dim|n_?embd|n_?embed|n_?emb|embed|width|model_?dim|dim_?model|features|n_?features|in_?features|"
    r"input_?dim|d_?in|in_?dim|dim_?in|n_?state|nx|d|c|channels|latent_?dim|size|d_?emb|input_?size|units|model_?size|"
    r"in_?channels|in_?size|e|embedding|d_?embed|d_?x|query_?(dim|size)|q_?dim|num_?hiddens|num_?features|"
    r"normalized_?shape|shape|k|ndim|n_?dims?|feature_?size|feat_?dim|token_?dim|attn_?dim|attention_?dim|state_?size|"
    r"ch|n_?ch|num_?channels|c_?in|model_?width|hdim|dims|feature_?dim|hidden_?units|n_?hidden|d_?attn|n_?units|"
    r"breite|szerokosc|wymiar|largeur|larghezza|largura|ancho|boyut|genislik|razmer|shirina|kuan_?du|wei_?du|dimens\w+|"
    r"维度|c_?s|c_?m|dim_?(query|queries)|"
    r"embeddings?_?dims?|embed_?dims|d_?dim|dm|(d_?)?word_?(vec|dim)(_?dim)?|(en|de)coder_?(embed_?dim|hidden_?size|dim)|d_?att|"
    r"att_?dim|embedding_?dimensions?|dim_?emb|embd_?dim",
    "out": r"d_?out|n_?out|out_?ch|n_?channels|channels|colou?rs|n_?outputs?|out_?dim|output_?dim|out_?features|"
    r"(d|dim)_?(uscita|salida|saida|sortie|ausgang)|"
    r"dim_?out|output_?size|out_?channels|d_?o|out_?size",
    "heads": r"num_?heads?|n_?heads?|heads?|h|nhead|head_?num|(num|n)_?attention_?heads?|nheads|n_?h|head_?count|"
    r"((n|nb|num|anzahl)_?)?(koepfe|köpfe|tetes|têtes|cabezas|cabeças|cabecas|teste|golov[y]?|glow[y]?|kafa(lar)?|bas(lik)?(lar)?|tou(_?shu)?)|"
    r"attention_?heads|att_?heads|attn_?heads|num(ber)?_?of_?heads|heads?_?n|nh|multi_?heads?|"
    r"(en|de)coder_?attention_?heads",
    "kv_heads": r"(n|num)_?(kv|key_?value)_?heads?|(kv|key_?value)_?heads?|(n|num)_?heads?_?kv|"
    r"(n|num)_?kv|(n_?)?kv_?h?|h_?kv|kv_?(num_?heads|head_?(num|count))|heads?_?kv|(n|num)_?keys?_?heads?|"
    r"((n|num)_?)?((query|kv)_?)?groups|g|"
    r"(koepfe|köpfe|tetes|têtes|cabezas|cabeças|cabecas|teste|golov[y]?|glow[y]?|kafa(lar)?|tou(_?shu)?)_?kv|"
    r"kv_?(koepfe|köpfe|tetes|têtes|cabezas|cabeças|cabecas|teste|golov[y]?|glow[y]?|kafa(lar)?|tou(_?shu)?)",
    "kv_groups": r"((n|num)_?)?((query|kv|key_?value)_?)?groups|(kv_?)?group_?size|n_?rep|"
    r"(q|queries|heads)_?per_?(kv|key|group)(_?head)?",
    "head_dim": r"head_?dim|d_?k|dk|d_?v|dv|d_?kv|d_?head|dim_?head|head_?size|d_?q|dq|key_?size|size_?per_?head|"
    r"head_?width|dim_?per_?head|head_?features|qk_?dim|d_?h|proj_?dim|projection_?dim|query_?size|value_?size|"
    r"attention_?head_?size|c_?hidden|(d|dim)_?(testa|cabeza|cabeca|tete|kopf|glowy|golovy|kafa)|(wymiar|szerokosc|boyut|razmer|largeur|ancho|breite)_?(glowy|golovy|kafa|tete|cabeza|kopf)|"
    r"d_?key|key_?dim|value_?dim|d_?value|hs|hd|dh|dim_?kv?|dim_?v|(d|dim)_?qk|dim_?q|width_?per_?head|query_?pre_?att(entio)?n_?scalar",
    "key_dim": r"k_?dim|key_?dim|d_?key|key_?size|key_?input_?dim|"
    r"(memory|mem|encoder|enc|kv|cond|cross_?attention)_?(hidden_?|input_?|model_?)?(dim|size|width|features|channels)|"
    r"(context|ctx|source|src)_?(hidden_?(dim|size)|dim|width|features|channels)|"
    r"(d|dim)_?(memory|mem|context|ctx|encoder|enc|kv|cond|source|src|contexto|contesto|contexte|kontext)|(wymiar|szerokosc|largeur|ancho|breite|boyut)_?(kontekstu|contexte|contexto|kontext|baglam)",
    "value_dim": r"v_?dim|value_?dim|d_?value|value_?size|value_?input_?dim",
    "max_len": r"max_?len|max_?seq_?len|context_?length|block_?size|seq_?len|n_?ctx|max_?length|ctx_?len|ctx|"
    r"max_?position_?embeddings|max_?positions|sequence_?length|max_?seq_?length|max_?sequence_?length|length|t|window|"
    r"num_?positions|n_?positions|seq_?length|max_?context|maxlen|context_?size|context|len|max_?tokens|context_?len|"
    r"max_?context_?length|max_?pos|max_?size|end|n_?tokens|num_?tokens|tokens|sequence_?len|max_?t|l|max_?time|"
    r"max_?num_?positions|src_?len|max_?seq|longest|capacity|limit|steps|max_?tokens|max_?words|rows|n_?max|n_?pos|"
    r"((num|n|max)_?)?(patches|frames)|laenge|länge|"
    r"max_?rows|t_?max|max_?ctx|max_?steps|max_?target_?length|max_?position|num_?embeddings|positions",
    "dropout": r"(?!.*(drop_?(path|last|tokens?|layers?|heads?|cls|labels?|blocks?|connect|keys?)"
    r"|layer_?drop(?!_?out))).*drop.*|zanik|wegfall|ausfall(rate)?|seyreltme|descarte|abandon[oe]?|porzucenie|p|(att(e?n(tion)?)?|resid(ual)?)_?p(rob)?|p_?att\w*|rate|"
    + KEEPS,
    "bias": r"bias|qkv_?bias|use_?bias|attn_?bias|with_?bias|add_?bias|has_?bias|proj_?bias|linear_?bias|"
    r"attention_?bias|"
    r"mlp_?bias|ff_?bias|output_?bias|out_?bias",
    "causal": r"causal|kausal|causale|is_?causal|masked|autoregressi(ve?|f)|use_?causal_?mask|causal_?mask|is_?decoder|"
    r"unidirectional|"
    r"mask_?future|decoder|((use|apply|with)_?)?mask(ing)?",
    "device": r"device",
    "dtype": r"dtype",
    "hidden": r"feed_?forward_?channels|"
    r"d_?ff|dff|ff_?dim|dim_?feed_?forward|ffn_?dim|mlp_?dim|inner_?dim|d_?hidden|ffn_?hidden|hidden_?dim|"
    r"widths?|hidden_?(sizes|dims|widths|layers)|intermediate_?size|intermediate_?dim|d_?inner|feed_?forward_?dim|"
    r"hidden_?size|hidden|ff_?size|ff_?hidden|d_?mlp|"
    r"ffn_?size|mlp_?hidden|mlp_?size|hid_?dim|h_?dim|pf_?dim|dim_?ff|dim_?hidden|n_?inner|ffn_?hidden_?dim|"
    r"feed_?forward_?hidden|d_?feed_?forward|feedforward_?size|hidden_?features|ff|f|dim_?mlp|ffw_?dim|nhid|"
    r"hidden_?width|inner_?(width|features|units|channels)|(ff|ffn|mlp)_?(width|units|channels|features)|"
    r"hidden_?channels|width_?size|d_?hid|"
    r"n_?hid|dim_?(inner|ffn|feedforward)|(ff|ffn)_?num_?hiddens|hidden_?layer(_?size)?|expanded_?(dim|size)|hid|n_?ff|"
    r"(ff|ffn|mlp)_?hidden_?(size|dim|units|features)|"
    r"(en|de)coder_?(ffn_?(embed_?)?dim|ffn|ff_?dim)|ff_?inner_?dim|feedforward|n_?hidden|d_?h|ffn|mlp|inner_?size|inner|ff_?d|"
    r"hidden_?units|(breite|szerokosc|largeur|larghezza|largura|ancho|boyut|genislik|shirina)_?(mlp|ffn?|ff|innen|intern[oa]?|interne)|innen|inner[ea]?|intern[oa]?|interne|wewn(etrzn[ey]|etrzna)?|ic_?(boyut|genislik)?|oculta|cachee?|nascost[oa]|skryt\w+|yin_?cang",
    "ratio": r"mlp_?ratio|expansion|expansion_?factor|forward_?expansion|ff_?mult|mult|ff_?ratio|ffn_?ratio|multiplier|"
    r"ffn_?mult|mlp_?mult|hidden_?mult(iple|iplier)?|ff_?expansion|expand|mlp_?expansion|widening_?factor|ffn_?expansion|ff_?factor",
    "layers": r"num_?layers?|n_?layers?|depth|n_?blocks?|num_?blocks?|n|layers|blocks|number_?of_?layers|"
    r"num_?encoder_?layers|encoder_?layers|n_?enc(oder)?_?layers?|num_?hidden_?layers|nlayers?|l|nb_?layers|"
    r"enc_?layers|(n|num)_?enc|"
    r"layer_?num|n_?cells|num_?cells|n_?encoders?|num_?encoders?|encoder_?depth|"
    r"((n|num|anzahl|ile|liczba|nombre|numero|kolvo)_?)?(schichten|capas|couches|strati|camadas|warstw(y|a)?|lagen|"
    r"katman(lar)?|sloi|sloev|ceng(_?shu)?)|ile|anzahl|sayi|skolko|"
    r"tiefe|profondeur|profundidade?|profondita|glubina|glebokosc|derinlik|shen_?du",
    "decoder_layers": r"num_?decoder_?layers|(n|num)_?dec|decoder_?layers|n_?dec(oder)?_?layers?|dec_?layers|"
    r"n_?decoders?|"
    r"decoder_?depth|num_?layers?|n_?layers?|depth|n|layers|nlayers?",
    "vocab": r"vocab_?size|vocab|n_?vocab|num_?embeddings|n_?tokens?|num_?tokens?|vocabulary_?size|voc_?size|"
    r"src_?vocab(_?size)?|source_?vocab(_?size)?|input_?vocab(_?size)?|ntokens?|v|enc_?vocab_?size|vocabulary|"
    r"(num|n)_?(events|items|symbols|notes|types|pieces)|"
    r"((tam|taille|rozmiar|razmer|groesse|dim)\w*_?)?(vocabulario|vocabolario|vocabulaire|slownika?|slovarya?|wortschatz|sozluk|ci_?biao|ci_?dian)|"
    r"num_?words|words|woerter|wörter|词表大小|"
    r"input_?dim|n_?words|dict_?size|src_?size|tgt_?vocab(_?size)?|target_?vocab(_?size)?|output_?vocab(_?size)?|"
    r"trg_?vocab(_?size)?|output_?dim|tgt_?size|n_?src_?vocab|n_?tgt_?vocab|n_?trg_?vocab|dec_?vocab_?size|trg_?size",
    "padding": r"pad(ding)?_?(idx|id|token|index|token_?id|event|item|symbol|word)?|"
    r"ignored?_?(idx|id|index|token)|"
    r"src_?pad_?(idx|id)|trg_?pad_?(idx|id)|"
    r"tgt_?pad_?(idx|id)|pad|(idx|id|index|indice|indeks)_?pad(ding)?|"
    r"((idx|id|index|indice|indeks|token|ficha|nomer)_?)?(de_?)?(bourrage|relleno|pustoj|riempimento|preenchimento|dolgu|"
    r"wypelnienia|wypelnienie|fuell\w*|füll\w*|tian_?chong|vacio|vuoto)",
    "eps": r"eps|epsilon|layer_?norm_?eps|norm_?eps|e|rms_?norm_?eps|layer_?norm_?epsilon|variance_?epsilon|ln_?eps",
    "affine": r"elementwise_?affine|affine|use_?affine|learnable|with_?(weights?|params)",
    "norm_first": r"((en|de)coder_?)?((layer_?)?norm(ali[sz]e)?_?(first|before)|(is_|use_)?pre_?(layer_?)?norm|"
    r"(use_)?pre_?ln|(pre_?|vor_?)norm\w*|norme?(a|alisation)?_?(previa|antes|avant|prima|zuerst|vorher|davor))",
    "activation": r"activation|act|hidden_?act|activation_?fn|act_?fn|nonlinearity|act_?layer|"
    r"activation_?function|non_?lin",
    **{meaning: words for known in appearances().values() for meaning, words in known.words.items()},
    "config": r"cfg|config|args|params|hparams|opt|opts|conf|hp|c|configs|hyperparams|model_?args|settings|"
    r"configuration|specs?|specification|presets?|konfig(uration)?|configurac[iã]o|configuracion|ustawienia|nastrojki",
}

# Inputs of a call, by what they may mean.
INPUTS: Mapping[str, str] = {
    "query": r"q|query|queries|x_?q|q_?in|query_?states|q_?input|xq|query_?tensor|qs|q_?x|input_?q|query_?input|"
    r"input_?query",
    "key": r"k|key|keys|x_?k|k_?in|key_?states|k_?input|xk|key_?tensor|ks|k_?x|input_?k|key_?input|input_?key|"
    r"(memory|mem|context|encoder|enc|source|src)_?keys?",
    "value": r"v|value|values|x_?v|v_?in|value_?states|v_?input|xv|value_?tensor|vs|v_?x|input_?v|value_?input|"
    r"input_?value|val|(memory|mem|context|encoder|enc|source|src)_?values?",
    "x": r"x|inputs?|hidden_?states?|src|h|embeddings?|tokens|seq|sequence|emb|input_?tensor|features|data|inp|in_?|"
    r"source|tgt|target|hidden|states?|z|u|xs|token_?embeddings|input_?embeddings|y|batch|enc_?inputs?|dec_?inputs?|"
    r"tensor|activations?|e|words|stream|residual|input_?seq|trg|encoder_?input|t|embedded|a|dec|enc|x_?in|x_?t",
    "memory": r"memory|context|ctx|kv|enc|encoder_?outputs?|enc_?outputs?|mem|encoder_?hidden_?states|x_?kv|kv_?in|"
    r"other|y|enc_?out|encoder_?out|cond|source|src|xkv|key_?value(_?states)?|k_?v|encoded|cross|x_?enc|enc_?src|z|x2|memories|"
    r"contexto|contesto|contexte|kontext|kontekst|baglam|memoria|memória|mémoire|"
    r"kv_?input|m|e_?outputs?|encoder_?states|x_?context|x_?encoder|x_?cross|key_?value|context_?states",
    "mask": r".*(mask|masque|m[aá]scara|maschera).*|(.*_)?pad(ding)?|"
    r"bourrage|f(ü|ue)llung(en)?|remplissage|rellenos|relleno|riempimento|preenchimento|dolgu|"
    r".*attn_?bias|attention_?bias|key_?padding|visible|"
    r"valid|allowed|keep|(src|tgt|trg)_?(key_?)?padding.*|tril|causal_?bias|m",
    "lengths": r"valid_?lens?|lengths?|n_?(frames|nodes|tokens|words|steps|real|items|samples)|"
    r"lens|seq_?lens?|valid_?lengths?|n_?valid|laengen?|längen?|longueurs?|longitude?s|largos|lunghezz[ae]|lengtes?|"
    r"comprimentos?|tamanhos|dlugosci?|długości|dliny|uzunluk(lar)?|chang_?du|nagasa|panjang|"
    r"(src|source|input|enc|text|token|x|kv|keys?|mem(ory)?|context|ctx|cache)_?(seq_?)?(len(gth)?s?|lens)",
    "want_weights": r"need_?weights|return_?(attention|attn|weights|attn_?weights|attention_?weights|scores)|"
    r"output_?attentions?|with_?(attn|weights)|return_?attns?|get_?(attention|weights)|want_?weights|show_?weights",
    "average": r"average_?attn_?weights|average(_?weights)?",
    "causal": r"causal|kausal|causale|((src|tgt|trg|memory)_?)?is_?causal|masked|use_?causal(_?mask)?|look_?ahead|"
    r"autoregressi(ve?|f)",
    "dropout": r".*drop.*",
    "scale": r"((sm|softmax|qk)_?)?scale|scaling|factor|temperature|scaled|beta|inv(erse)?_?temperature",
    "training": r"training|train|is_?training",
    "deterministic": r"(is_?)?deterministic|(is_?)?eval(uation)?",
    "generator": r"(.*_)?(rng|generator|prng)(_?key)?|drop(out)?_?(key|rng|gen)",
}


def snake(name: str) -> str:
    """Return a name in small letters, its words apart: "numHeads" as "num_heads"."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def meanings(name: str, table: Mapping[str, str] = SIZES) -> list[str]:
    """Return what a name may mean, in the table's order."""
    return fitting(name, table)


def fitting(name: str, patterns: Mapping[str, str]) -> list[str]:
    """Return the keys of the patterns that a name fits; one that fits none may have its shape behind it: x_btd."""
    plain = snake(name).strip("_")
    found = [key for key, pattern in patterns.items() if re.fullmatch(pattern, plain)]
    bare = re.sub(r"(?<=[a-z])_([A-Z]{2,5}|b(?!ias|ase|eta|ack)[a-z]{0,3})$", "", name)
    return found if found or bare == name else fitting(bare, patterns)
