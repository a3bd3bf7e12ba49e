"""What all trials with a hostile side have."""

import pytest

from h123.execution.certificate import Certificate, campaign_certificate
from h123.execution.files import SERVER_ADDRESS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return campaign_certificate(tmp_path_factory.mktemp("tls").resolve(), [SERVER_ADDRESS])
