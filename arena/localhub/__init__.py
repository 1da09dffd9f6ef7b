"""A Hugging Face Hub and sign-in on a laptop: `python -m arena.localhub --data DIR`.

It speaks the Hub's HTTP API and OpenID well enough for the unchanged `huggingface_hub` client
and Gradio's real OAuth flow, so the product has one way through on every machine. A server of
its own: nothing else in the project imports it.
"""
