"""The second stage of training: learning from what every likely move would have come to."""
