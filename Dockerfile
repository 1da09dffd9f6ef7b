# The Space. Sign-in is real only with SYSTEM=spaces, and a Docker Space does not set it by itself;
# app.py refuses to start without it.
FROM python:3.11-slim

ENV SYSTEM=spaces \
    HOST=0.0.0.0 \
    PORT=7860 \
    ARENA_DATA=/home/user/data \
    HF_HOME=/home/user/huggingface \
    GRADIO_ANALYTICS_ENABLED=False \
    PYTHONUNBUFFERED=1

RUN useradd --create-home --uid 1000 user
WORKDIR /home/user/app
COPY requirements-check.txt requirements.txt constraints.txt ./
RUN pip install --no-cache-dir -c constraints.txt -r requirements-check.txt -r requirements.txt
COPY --chown=user . .
USER user
EXPOSE 7860
CMD ["python", "app.py"]
