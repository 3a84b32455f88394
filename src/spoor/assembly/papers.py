"""The papers that strategies and judges come from."""

from __future__ import annotations

LSW = "Somboonviwat, Tamura, Kitsuregawa: Simulation Study of Language Specific Web Crawling (2005)"
MON = "Ma, Yan, Zhang, Yang: A Method of Collecting Mongolian Web page Based on Hyperlink Correlation Degree (2014)"
VSM = "Qin, Peng: A Focused Crawler Based on Correlation Analysis (2014)"
AHM = "Jia, Fang: Design of Web Crawler Based on Improved Hidden Markov Model (2016)"
SERVERS = "Tamura, Somboonviwat, Kitsuregawa: A Method for Language-Specific Web Crawling and Its Evaluation (2007)"
