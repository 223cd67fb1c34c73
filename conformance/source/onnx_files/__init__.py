"""Files of ONNX as implementations: a graph with one operator is an adapter, whose functions run it in ONNX Runtime."""
