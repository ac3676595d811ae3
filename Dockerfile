# The command in a small image:
#   docker build -t memory-conformance .
#   docker run --rm --user "$(id -u)" -v "$PWD:/work" memory-conformance run target.toml --report html:report.html
# It runs as nobody in particular, who may not write into your directory; --user lets it write the report.
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY conformance conformance
COPY invariants invariants
COPY strategies strategies
COPY reports reports
RUN python -m venv /opt/memory-conformance \
    && /opt/memory-conformance/bin/pip install --no-cache-dir --disable-pip-version-check ".[serve]" \
    && /opt/memory-conformance/bin/pip uninstall --yes --quiet pip \
    && find /opt/memory-conformance -name __pycache__ -prune -exec rm -r {} +

FROM python:3.13-slim
RUN useradd --uid 10001 --create-home --home-dir /home/judge --shell /usr/sbin/nologin judge
COPY --from=build /opt/memory-conformance /opt/memory-conformance
ENV PATH=/opt/memory-conformance/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /work
ENTRYPOINT ["memory-conformance"]
CMD ["run"]
