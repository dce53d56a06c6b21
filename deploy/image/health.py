"""The health check of the image: whether the collector in this container counts reports."""

import os
import ssl
import sys
import urllib.request

scheme = "https" if os.environ.get("DENIABLE_TLS_CERT") else "http"
context = ssl._create_unverified_context() if scheme == "https" else None  # it asks itself
address = f"{scheme}://127.0.0.1:{os.environ.get('DENIABLE_PORT', '8080')}/health/ready"
try:
    urllib.request.urlopen(address, timeout=5, context=context).close()
except OSError as error:
    sys.exit(str(error))
