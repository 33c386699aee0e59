// Certificates of nobody, for tests of TLS: a CA, a worker and a coordinator that it signed, and a stranger whom another one signed.
// Elliptic curves, valid for a hundred years; their keys are here for all to read and protect nothing.
//
// Errors: –.   Threads: constants.
#pragma once

namespace sp::rpc::certificates {

inline constexpr const char* kCa = R"(-----BEGIN CERTIFICATE-----
MIIBcTCCARegAwIBAgIUZwzhojbNLI/rybAHurfdhkq1VGkwCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMjAxMDUwMzQ4WhgPMjEyNjExMDcwNTAzNDha
MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAExpZ2g1vQ
HHdXtWOGuSdN+5TSn/jlMENS4dVkOyyb0+6Dr8itQ+v8NW5v35lO7ziyF3jQfVe8
EzaG06FzynkSz6NTMFEwHQYDVR0OBBYEFIsecAlb0Q93PNlf4rmOEyqRv37cMB8G
A1UdIwQYMBaAFIsecAlb0Q93PNlf4rmOEyqRv37cMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDSAAwRQIhAN8TkyAnPqjUy3m8ZeMOjuc/0mHj/pEUjoDeU6/q
ikoJAiBHywvaYJz5eyQJ5+I/V8+12roYKmWTvSILpraEOG2wSw==
-----END CERTIFICATE-----
)";

inline constexpr const char* kWorker = R"(-----BEGIN CERTIFICATE-----
MIIBfzCCASagAwIBAgIUTSL+xkfPolC1lKcfUSSWIDuIjJswCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMjAxMDUwMzQ4WhgPMjEyNjExMDcwNTAzNDha
MBExDzANBgNVBAMMBndvcmtlcjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLlC
3cviz+kD+N9SquP8bldlO4a9fUUd8yzuxUUfEgtObwkxCV8875IuqhSmmd5c5uum
+awfYSqhbiWQGZuGFtyjXjBcMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAd
BgNVHQ4EFgQU9MaAOf+q0MG5JVJUmHywcH8P5wQwHwYDVR0jBBgwFoAUix5wCVvR
D3c82V/iuY4TKpG/ftwwCgYIKoZIzj0EAwIDRwAwRAIgegjIgH+D1nrGf/SoEf7f
OYZ+dzENS2scfbjHeD1hAYkCIGNe7eOtZ6zQ+1vkUhotJ4DHwLN+cx+q2vdSdh4V
P0DD
-----END CERTIFICATE-----
)";

inline constexpr const char* kWorkerKey = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJpjMSchKawqvf6T5
uC5PCmszLwmk9Ordnx0lDBSovLGhRANCAAS5Qt3L4s/pA/jfUqrj/G5XZTuGvX1F
HfMs7sVFHxILTm8JMQlfPO+SLqoUppneXObrpvmsH2EqoW4lkBmbhhbc
-----END PRIVATE KEY-----
)";

inline constexpr const char* kCoordinator = R"(-----BEGIN CERTIFICATE-----
MIIBhTCCASugAwIBAgIUTSL+xkfPolC1lKcfUSSWIDuIjJwwCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMjAxMDUwMzQ4WhgPMjEyNjExMDcwNTAzNDha
MBYxFDASBgNVBAMMC2Nvb3JkaW5hdG9yMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAEhJg683vVmH4slOjzgsBRQcGiOWHQ+JURfYFPXvb0NI9E3kqsUvtpGfkVdiXZ
Ya6C2UqKiHNLMehKTNaAOOXu/6NeMFwwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/
AAABMB0GA1UdDgQWBBSvH6TDZo4TFrYmbdSqXRW/lxpNpzAfBgNVHSMEGDAWgBSL
HnAJW9EPdzzZX+K5jhMqkb9+3DAKBggqhkjOPQQDAgNIADBFAiEA3y/u89rPEwx4
sZ2++xtimh6HKhWEWTalrTKb9hXYtzACIG1djieMnCfZRdxBl9x0ljsZHge6XyGg
CuB0NLEM46aC
-----END CERTIFICATE-----
)";

inline constexpr const char* kCoordinatorKey = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg2HdOK5T7+qFVyiSq
FZ4KQdiXDvTfWnFreNpz283KtgehRANCAASEmDrze9WYfiyU6POCwFFBwaI5YdD4
lRF9gU9e9vQ0j0TeSqxS+2kZ+RV2JdlhroLZSoqIc0sx6EpM1oA45e7/
-----END PRIVATE KEY-----
)";

inline constexpr const char* kStranger = R"(-----BEGIN CERTIFICATE-----
MIIBhzCCAS2gAwIBAgIUMDfgUg2jayECuabdNypYxtio/IkwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHb3RoZXJjYTAgFw0yNjEyMDEwNTAzNDhaGA8yMTI2MTEwNzA1
MDM0OFowEzERMA8GA1UEAwwIc3RyYW5nZXIwWTATBgcqhkjOPQIBBggqhkjOPQMB
BwNCAARNvBVZmT1JMpwrp5oMB7p8ps9fE7PE+hJnFidSne4C3sVCDcLMue6FfPAN
wqYrQOwtUz6fXe2ZRuFTgGlGrmZ5o14wXDAaBgNVHREEEzARgglsb2NhbGhvc3SH
BH8AAAEwHQYDVR0OBBYEFEQuCG6x4HRBuPZ59OTY2YXuu77JMB8GA1UdIwQYMBaA
FATZRlf6gcZpYwl8GEbwBQi3grcoMAoGCCqGSM49BAMCA0gAMEUCIQCcSJ0XbBD5
YXFI/awa500fnGoxv8YM3Rf7KPFYuMj9qAIgVxqzXWxn0xajudZI5gqWvikWWvLy
/vJPiYkYgk2F0JM=
-----END CERTIFICATE-----
)";

inline constexpr const char* kStrangerKey = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAWzIvAcejs0aZvXv
My+Wv3fSeMurCwaolCSdt8lMMIyhRANCAARNvBVZmT1JMpwrp5oMB7p8ps9fE7PE
+hJnFidSne4C3sVCDcLMue6FfPANwqYrQOwtUz6fXe2ZRuFTgGlGrmZ5
-----END PRIVATE KEY-----
)";

}  // namespace sp::rpc::certificates
