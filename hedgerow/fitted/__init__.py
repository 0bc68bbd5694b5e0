"""Fitted models: what they know, and how they predict.

An estimator is a fitted model that can also learn. What is here needs no scikit-learn, so a
model file is predicted from without waiting for it.
"""
