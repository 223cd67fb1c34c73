import math
from typing import List, Optional, Tuple

import torch
from torch import nn


class InvalidAttentionConfigurationError(ValueError):
    """Raised when the attention configuration cannot be honoured."""


class AttentionHeadSplitter:
    """Knows how to split a tensor into heads and how to put the heads together again."""

    def __init__(self, numberOfHeads: int, sizePerHead: int) -> None:
        self.numberOfHeads = numberOfHeads
        self.sizePerHead = sizePerHead

    def splitIntoHeads(self, inputTensor: torch.Tensor) -> torch.Tensor:
        batchSize, sequenceLength, _ = inputTensor.shape
        reshapedTensor = inputTensor.reshape(batchSize, sequenceLength, self.numberOfHeads, self.sizePerHead)
        return reshapedTensor.permute(0, 2, 1, 3)

    def mergeHeads(self, inputTensor: torch.Tensor) -> torch.Tensor:
        batchSize, _, sequenceLength, _ = inputTensor.shape
        permutedTensor = inputTensor.permute(0, 2, 1, 3)
        return permutedTensor.reshape(batchSize, sequenceLength, self.numberOfHeads * self.sizePerHead)


class MultiHeadAttentionLayer(nn.Module):
    """Implements multi head attention."""

    def __init__(self, numberOfHeads: int, modelDimension: int, dropoutProbability: float = 0.0) -> None:
        super().__init__()
        self._validateArguments(numberOfHeads, modelDimension)
        self.numberOfHeads = numberOfHeads
        self.modelDimension = modelDimension
        self.headDimension = modelDimension // numberOfHeads
        self.headSplitter = AttentionHeadSplitter(self.numberOfHeads, self.headDimension)
        self.queryProjectionLayer = nn.Linear(in_features=modelDimension, out_features=modelDimension)
        self.keyProjectionLayer = nn.Linear(in_features=modelDimension, out_features=modelDimension)
        self.valueProjectionLayer = nn.Linear(in_features=modelDimension, out_features=modelDimension)
        self.outputProjectionLayer = nn.Linear(in_features=modelDimension, out_features=modelDimension)
        self.dropoutLayer = nn.Dropout(p=dropoutProbability)

    def forward(
        self,
        queryTensor: torch.Tensor,
        keyTensor: torch.Tensor,
        valueTensor: torch.Tensor,
        isBlockedMask: Optional[torch.Tensor] = None,
    ) -> Tuple[torch.Tensor, torch.Tensor]:
        """isBlockedMask has shape (batch, numberOfQueries, numberOfKeys); True means that the score is blocked."""
        splitQuery = self.headSplitter.splitIntoHeads(self.queryProjectionLayer(queryTensor))
        splitKey = self.headSplitter.splitIntoHeads(self.keyProjectionLayer(keyTensor))
        splitValue = self.headSplitter.splitIntoHeads(self.valueProjectionLayer(valueTensor))
        attentionWeights = self._computeAttentionWeights(splitQuery, splitKey, isBlockedMask)
        contextTensor = torch.matmul(self.dropoutLayer(attentionWeights), splitValue)
        outputTensor = self.outputProjectionLayer(self.headSplitter.mergeHeads(contextTensor))
        return outputTensor, attentionWeights

    def _computeAttentionWeights(self, splitQuery, splitKey, isBlockedMask):
        scalingFactor = 1.0 / math.sqrt(float(self.headDimension))
        attentionScores = torch.matmul(splitQuery, splitKey.transpose(-1, -2)) * scalingFactor
        if isBlockedMask is not None:
            expandedMask = isBlockedMask.unsqueeze(dim=1)
            attentionScores = attentionScores.masked_fill(expandedMask, -float("inf"))
        return torch.softmax(attentionScores, dim=-1)

    def getParameterNames(self) -> List[str]:
        return [name for name, _ in self.named_parameters()]

    @staticmethod
    def _validateArguments(numberOfHeads: int, modelDimension: int) -> None:
        if modelDimension % numberOfHeads != 0:
            raise InvalidAttentionConfigurationError(
                "modelDimension (%d) must be divisible by numberOfHeads (%d)" % (modelDimension, numberOfHeads)
            )
