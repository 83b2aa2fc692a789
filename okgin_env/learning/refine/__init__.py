"""The second stage of training: learning from what every likely move would have come to.

`config` says what is asked for, `hindsight` plays moves out, `gathering` does so in several processes, `fit` learns from what
came out, and `run` goes through the rounds of both.
"""
