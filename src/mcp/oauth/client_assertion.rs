//! A signed client assertion, used in place of a secret (`private_key_jwt`, RFC 7523).

use super::error::OAuthError;
use super::random::random_token;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// The value of `client_assertion_type`.
pub const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const LIFETIME_SECONDS: i64 = 120;

enum SigningKey {
    Ecdsa(EcdsaKeyPair),
    Rsa(Box<RsaKeyPair>),
}

/// Signs an assertion of `client_id` for the issuer `audience` with a PKCS #8 private key in PEM:
/// P-256 (ES256) or RSA (RS256).
///
/// # Errors
/// The key is neither of these, or signing failed.
pub fn sign(client_id: &str, audience: &str, pem: &str) -> Result<String, OAuthError> {
    let der = decode_pem(pem).ok_or(OAuthError::PrivateKey("it is not a PKCS #8 key in PEM"))?;
    let key = match EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der) {
        Ok(key) => SigningKey::Ecdsa(key),
        Err(_) => match RsaKeyPair::from_pkcs8(&der) {
            Ok(key) => SigningKey::Rsa(Box::new(key)),
            Err(_) => return Err(OAuthError::PrivateKey("it is neither P-256 nor RSA")),
        },
    };
    let algorithm = match key {
        SigningKey::Ecdsa(_) => "ES256",
        SigningKey::Rsa(_) => "RS256",
    };
    let now = jiff::Timestamp::now().as_second();
    let signed = format!(
        "{}.{}",
        encode(&json!({ "alg": algorithm, "typ": "JWT" })),
        encode(&json!({
            "iss": client_id, "sub": client_id, "aud": audience, "jti": random_token(),
            "iat": now, "exp": now + LIFETIME_SECONDS,
        }))
    );
    let signature = key.sign(signed.as_bytes())?;
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

impl SigningKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, OAuthError> {
        let random = SystemRandom::new();
        let failed = |_| OAuthError::PrivateKey("signing failed");
        match self {
            Self::Ecdsa(key) => {
                let signature = key.sign(&random, message).map_err(failed)?;
                Ok(signature.as_ref().to_vec())
            }
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .map_err(failed)?;
                Ok(signature)
            }
        }
    }
}

fn encode(json: &Value) -> String {
    URL_SAFE_NO_PAD.encode(json.to_string())
}

/// The contents of a `PRIVATE KEY` block. Environment variables often hold `\n` as two characters.
fn decode_pem(pem: &str) -> Option<Vec<u8>> {
    let pem = pem.replace("\\n", "\n");
    let (_, rest) = pem.split_once("-----BEGIN PRIVATE KEY-----")?;
    let (body, _) = rest.split_once("-----END PRIVATE KEY-----")?;
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, KeyPair, UnparsedPublicKey};

    #[test]
    fn an_assertion_names_client_and_audience_and_its_signature_verifies() {
        let der =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
                .expect("a key");
        let pem = format!(
            "-----BEGIN PRIVATE KEY-----\\n{}\n-----END PRIVATE KEY-----",
            STANDARD.encode(der.as_ref())
        );
        let assertion = sign("me", "https://as.example", &pem).expect("a usable key");
        let (signed, signature) = assertion.rsplit_once('.').expect("three parts");
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.as_ref())
            .expect("the same key");
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.public_key().as_ref())
            .verify(signed.as_bytes(), &signature)
            .expect("a valid signature");
        let claims = signed.split_once('.').expect("two parts").1;
        let claims = URL_SAFE_NO_PAD.decode(claims).expect("base64");
        let claims: Value = serde_json::from_slice(&claims).expect("JSON");
        assert_eq!(
            (&claims["iss"], &claims["sub"], &claims["aud"]),
            (&json!("me"), &json!("me"), &json!("https://as.example"))
        );
        assert_eq!(
            claims["exp"]
                .as_i64()
                .zip(claims["iat"].as_i64())
                .map(|(end, start)| end - start),
            Some(LIFETIME_SECONDS)
        );
    }

    #[test]
    fn text_that_is_not_a_key_is_refused_without_quoting_it() {
        for pem in [
            "",
            "secret",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        ] {
            let error = sign("me", "https://as.example", pem)
                .expect_err("no key")
                .to_string();
            assert!(
                error.starts_with("The private key cannot be used"),
                "{error}"
            );
            assert!(!error.contains("AAAA") && !error.contains("secret"));
        }
    }
}
