"""PostTrain Arena: the open arena for post-training."""

__version__ = "0.1.0"
