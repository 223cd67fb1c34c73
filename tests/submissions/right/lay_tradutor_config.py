"""Trabalho final: um transformer que traduz. O zero é o preenchimento nos dois vocabulários."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Ajustes:
    palavras_origem: int
    palavras_destino: int
    largura: int = 64
    olhares: int = 4
    andares: int = 2
    miolo: int = 128
    dropout: float = 0.1
    maior_frase: int = 300
    vazio: int = 0


class Lugares(nn.Module):
    def __init__(self, ajustes: Ajustes):
        super().__init__()
        lugar = torch.arange(ajustes.maior_frase)[:, None]
        passo = torch.exp(-math.log(10000.0) * torch.arange(0, ajustes.largura, 2) / ajustes.largura)
        ondas = torch.stack([torch.sin(lugar * passo), torch.cos(lugar * passo)], dim=-1).flatten(1)
        self.register_buffer("ondas", ondas)

    def forward(self, x):
        return x + self.ondas[: x.shape[1]]


class Olhar(nn.Module):
    """Um olhar só, com as suas três matrizes."""

    def __init__(self, ajustes: Ajustes):
        super().__init__()
        fino = ajustes.largura // ajustes.olhares
        self.pergunta = nn.Linear(ajustes.largura, fino, bias=False)
        self.chave = nn.Linear(ajustes.largura, fino, bias=False)
        self.valor = nn.Linear(ajustes.largura, fino, bias=False)

    def forward(self, x, memoria, visivel):
        q, k, v = self.pergunta(x), self.chave(memoria), self.valor(memoria)
        notas = (q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])).masked_fill(~visivel, float("-inf"))
        return notas.softmax(dim=-1) @ v


class Atencao(nn.Module):
    def __init__(self, ajustes: Ajustes):
        super().__init__()
        self.olhares = nn.ModuleList([Olhar(ajustes) for _ in range(ajustes.olhares)])
        self.junta = nn.Linear(ajustes.largura, ajustes.largura)
        self.dropout = nn.Dropout(ajustes.dropout)

    def forward(self, x, memoria, visivel):
        return self.dropout(self.junta(torch.cat([olhar(x, memoria, visivel) for olhar in self.olhares], dim=-1)))


class Miolo(nn.Module):
    def __init__(self, ajustes: Ajustes):
        super().__init__()
        self.abre = nn.Linear(ajustes.largura, ajustes.miolo)
        self.fecha = nn.Linear(ajustes.miolo, ajustes.largura)
        self.dropout = nn.Dropout(ajustes.dropout)

    def forward(self, x):
        return self.dropout(self.fecha(F.relu(self.abre(x))))


class AndarOrigem(nn.Module):
    def __init__(self, ajustes: Ajustes):
        super().__init__()
        self.atencao, self.miolo = Atencao(ajustes), Miolo(ajustes)
        self.norma1, self.norma2 = nn.LayerNorm(ajustes.largura), nn.LayerNorm(ajustes.largura)

    def forward(self, x, visivel):
        x = self.norma1(x + self.atencao(x, x, visivel))
        return self.norma2(x + self.miolo(x))


class AndarDestino(nn.Module):
    def __init__(self, ajustes: Ajustes):
        super().__init__()
        self.propria, self.cruzada, self.miolo = Atencao(ajustes), Atencao(ajustes), Miolo(ajustes)
        self.norma1, self.norma2 = nn.LayerNorm(ajustes.largura), nn.LayerNorm(ajustes.largura)
        self.norma3 = nn.LayerNorm(ajustes.largura)

    def forward(self, y, memoria, visivel_y, visivel_x):
        y = self.norma1(y + self.propria(y, y, visivel_y))
        y = self.norma2(y + self.cruzada(y, memoria, visivel_x))
        return self.norma3(y + self.miolo(y))


class Tradutor(nn.Module):
    """forward(origem, destino): números (lote, S) e (lote, T); devolve (lote, T, palavras_destino)."""

    def __init__(self, ajustes: Ajustes):
        super().__init__()
        self.ajustes = ajustes
        self.tabela_origem = nn.Embedding(ajustes.palavras_origem, ajustes.largura)
        self.tabela_destino = nn.Embedding(ajustes.palavras_destino, ajustes.largura)
        self.lugares, self.dropout = Lugares(ajustes), nn.Dropout(ajustes.dropout)
        self.origem = nn.ModuleList([AndarOrigem(ajustes) for _ in range(ajustes.andares)])
        self.destino = nn.ModuleList([AndarDestino(ajustes) for _ in range(ajustes.andares)])
        self.saida = nn.Linear(ajustes.largura, ajustes.palavras_destino)

    def entra(self, numeros, tabela):
        return self.dropout(self.lugares(tabela(numeros) * math.sqrt(self.ajustes.largura)))

    def forward(self, origem, destino):
        visivel_x = (origem != self.ajustes.vazio)[:, None, :]
        passado = torch.ones(destino.shape[1], destino.shape[1], dtype=torch.bool, device=destino.device).tril()
        visivel_y = (destino != self.ajustes.vazio)[:, None, :] & passado
        x = self.entra(origem, self.tabela_origem)
        for andar in self.origem:
            x = andar(x, visivel_x)
        y = self.entra(destino, self.tabela_destino)
        for andar in self.destino:
            y = andar(y, x, visivel_y, visivel_x)
        return self.saida(y)
