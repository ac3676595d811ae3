"""The rules, one module each: ``test_mem_r001_<slug>.py`` … ``test_mem_r027_<slug>.py``; ``catalogue.json`` lists them."""
