"""What a sentence says of the values of a mask: that 1 or True keeps, or that it drops, or nothing for certain.

The words of a file may override what was seen, so that a sentence counts only where it ties one value to one state.
A clause with an exception, with a negation that belongs to neither state, or with both states says nothing.
"""

import re

KEEPS, DROPS = "keeps", "drops"
_NEG = (
    r"(?:\b(?:not?|never|nobody|none of|cannot|un|non|nichts?|kein\w*|niemals|pas|jamais|ne|nunca|nao|não)\b[- ]?|"
    r"\b(?:un|non)(?=mask|pad|hid|ignor|block|drop)|n't\b|不|非|未|无)"
)
_FILLER = r"(?:\s*\b(?:be|been|being|are|is|an?|the|to|part of|of|es|está|sont|est|de|du|le|la)\b)*\s*"
_HIDDEN = (
    r"(?:pad|fill(?:ed|er|ing)|blank|dumm|mask(?:s|ed|ing)\b|mask (?:it |them )?out|hid(?:e|es|den)\b|ignor|"
    r"block|forbid|exclud|drop|remov|disallow|left out|leave[sd]? out|"
    r"tapad|ocult|relleno|enmascar|bloque|prohib|"
    r"verdeckt|versteckt|gesperrt|ausgeblendet|füll|fuell|gefüllt|gefuellt|maskier|verboten|"
    r"masqué|masquée?s?\b|cachée?s?\b|remplissage|bourrage|interdit|"
    r"nascost|riempi|preenchi|ocult|opvul|verborg|wypełn|wypeln|ukryt|dolgu|gizl|dopolnen|zapoln|skryt|tianchong|yincang|"
    r"填充|遮|屏蔽|忽略|掩|隐藏)"
)
_SEEN = (
    r"(?:\breal\b|keep|kept|attend|valid|visible|allow|\blook|\bsee\b|\bseen\b|\bused?\b|takes? part|take\b|count|"
    r"true length|se puede|permitid|atiende|atender|válid|reales|"
    r"sichtbar|gesehen|erlaubt|gültig|gueltig|\bechte?|darf|behalten|beachtet|"
    r"visibil|visív|visiv|vero token|zichtba|echte?\b|widoczn|prawdziw|görün|gorun|gerçek|gercek|nastoyas|realn|vidim|"
    r"zhenshi|kejian|réel|valide|autoris|garde|可见|有效|真实|保留|允许|看)"
)
_NOT_SEEN = rf"{_NEG}(?:\s*[^\W\d]+){{0,4}}?\s*{_SEEN}(?:\w*(?:\s+(?:to|be|de|zu|a|werden))*\s*{_SEEN})*"
_TOKENS = r"\b(?:tokens?|words?|part)\b"
_UNSEEN = r"\b(?:invisible|invalid|unseen|unused|disallow\w*|unsichtbar|ungültig|invalide|inválid\w*)|不可见|无效"
_OTHERWISE = (
    r"\b(?:except|unless|other than|apart from|besides|outside|beyond|before|until|up to|without|rather than|"
    r"instead|außer|salvo|excepto|sauf|hasta|bis|ids?|index|indices|if given)\b"
)
_CONTRARY = r"\b(?:unlike|opposite|contrary|in contrast|inverse|inverted|flipped|negated|reversed?)\b"
_NUMBERS = r"\badd(?:ed|itive|s)?\b|\blogits?\b|-\s*inf|-∞|\bsum[ae]n?\b|\baddiert\b|\bajouté"

_ONE = r"(?<![\w.])(?:1(?:\.0*)?s?|ones?|True|true|wahr|vrai|verdadero|verdadeiro|vero|waar)(?![\w/]|\.\d)"
_ZERO = r"(?<![\w.])(?:0(?:\.0*)?s?|zeros?|False|false|falsch|faux|falso|onwaar)(?![\w/]|\.\d)"
_BOTH = (
    r"(?<![\w.])(?:[01](?:\.0)?s?\s*(?:/|or|and|,|und|oder|y|o|et|ou)\s*[01](?:\.0)?s?|"
    r"(?:True|False)\s*(?:/|or)\s*(?:True|False))(?![\w.]|\s*[=:])"
)
_TIES = (
    r"=+|:|[-=]>|[-–—](?=\s)|→|means?|is|are|for|at|on|in|to|where(?:ver)?|when(?:ever)?|if|that|which|as|"
    r"marks?|marking|hides?|masks?|keeps?|blocks?|ignores?|drops?|removes?|excludes?|allows?|lets?|attends?|"
    r"indicat\w+|denot\w+|stands?|says?|values?|entries|elements|positions?|slots?|keys?|tokens?|takes?|"
    r"significa|bedeutet|heißt|heisst|signifie|indica|marca|para|für|fuer|pour|donde|wo|wenn|là|où|en|an|bei|aux?"
)
_AFTER = rf"""['"`*)\]]*\s*(?:(?:{_TIES})(?!\w)|是|表示|为|代表|{_HIDDEN}|{_SEEN}|{_NEG})"""
_BEFORE = (
    r"(?:=+|:|[-=]>|→|"
    r"\b(?:where|if|when|with|as|is|are|at|by|gets?|has|have|holds?|to|wo|donde|où|ist|vaut|vale|es|son))"
)
_LINK = rf"(?:{_BEFORE}\s*(?:an?\s+|the\s+)?['\"`*]*(?:{{0}})|(?:{{0}})(?=\s*{_AFTER}))"
_NOT_ZERO = r"\b(?:non[- ]?zeros?|not (?:zero|0)|different from (?:zero|0))\b|!=\s*0(?:\.0)?\b"
_AGAIN = r"\s*\((?:or\s+)?(?:[01](?:\.0)?|ones?|zeros?|True|False|non[- ]?zeros?)\)"  # True (or 1)
_NOT_ONE = r"\b(?:not|isn't|aren't) (?:1|True)\b"
_ARTICLE = r"\bone(?=\s+(?:for|in|at|on|of|to|per|that|which|as|value|entry|mask|row|token|position|key)\b)"
_ID = r"\b(?:ids?|index|token)\s*=?\s*[01]\b"
_CLAUSES = (
    r"[,;()\[\]]|\.(?=\s|$)|\b(?:and|but|or|while|whereas|und|aber|oder|mais|pero|y)\b|"
    rf"(?={_ONE}\s*(?:=|:|means))"
)


def votes(words: str) -> list[str]:
    """Return what each clause says that 1 does; what it says of 0 is the opposite."""
    if re.search(rf"{_NUMBERS}|{_CONTRARY}", words, re.IGNORECASE):
        return []  # its numbers are no truth values, or it speaks of another mask
    words = re.sub(_AGAIN, "", words, flags=re.IGNORECASE)
    words = re.sub(_NOT_ONE, "0", re.sub(_NOT_ZERO, "1", words, flags=re.IGNORECASE))
    words = re.sub(_ID, "id", re.sub(_ARTICLE, "single", re.sub(_BOTH, " ", words)))
    words = re.sub(rf"({_BEFORE}\s*)?{_ZERO}", lambda found: found[0] if found[1] else f"; {found[0]}", words)
    return [vote for clause in re.split(_CLAUSES, words) if (vote := _vote(clause or ""))]


def _vote(clause: str) -> str:
    """Return what a clause says that 1 does; "" where it does not tie one value to one state."""
    one, zero = (re.search(_LINK.format(value), clause) is not None for value in (_ONE, _ZERO))
    both = re.search(_ONE, clause) and re.search(_ZERO, clause)
    if one == zero or both or re.search(_OTHERWISE, clause, re.IGNORECASE):
        return ""
    state = _state(clause.lower())
    return {KEEPS: DROPS, DROPS: KEEPS}.get(state, "") if zero else state


def _state(said: str) -> str:
    """Return the state that a clause speaks of: that of keys that are kept, or of such that are dropped."""
    found = set[str]()
    for pattern, state in ((_NEG + _FILLER + _HIDDEN, KEEPS), (f"{_UNSEEN}|{_NOT_SEEN}", DROPS)):
        said, count = re.subn(pattern, " ", said)
        found |= {state} if count else set()
    if re.search(_NEG, said):
        return ""
    found |= {DROPS} if re.search(_HIDDEN, said) else set()
    found |= {KEEPS} if re.search(_SEEN, said) else set()
    if not found and re.search(_TOKENS, said):
        return KEEPS
    return found.pop() if len(found) == 1 else ""
