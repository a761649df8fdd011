import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { createFakeObjects } from '../../../test/fakes/fake-objects.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { createKeys, parseKeyedCertificate, toKeyPem } from '../../protocols/x509/certificate-files.ts'
import { issueAuthority, issueCertificate } from '../../protocols/x509/issue-certificate.ts'
import { createApiAuthenticator } from './create-api-authenticator.ts'
import { TokenSigner } from './json-web-token.ts'
import { ANONYMOUS_USER } from './user-names.ts'

const HOUR_MS = 3_600_000
const clock = new FakeClock()
const keys = createKeys()
const pem = await issueAuthority(keys, { commonName: 'one', lifetimeMs: HOUR_MS }, clock.now())
const authority = parseKeyedCertificate(`${pem}${toKeyPem(keys.privateKey)}`)
const certificate = new X509Certificate(
  await issueCertificate(
    { ...authority, pem },
    {
      commonName: 'jane',
      organizations: [],
      publicKey: createKeys().publicKey,
      names: [],
      usages: ['client'],
      lifetimeMs: HOUR_MS,
    },
    clock.now(),
  ),
)

describe('createApiAuthenticator()', () => {
  const authenticator = createApiAuthenticator({
    authority: authority.certificate,
    signer: new TokenSigner(keys.privateKey),
    objects: createFakeObjects({}),
    clock,
    log: silentLogger,
  })
  // In OpenSSL's words: it checks at the handshake what is not checked here.
  const rows = [undefined, 'CA_MD_TOO_WEAK', 'UNHANDLED_CRITICAL_EXTENSION', 'PATH_LENGTH_EXCEEDED', 'CERT_REVOKED']
  for (const certificateFault of rows)
    test(`a certificate that is good here, with ${certificateFault ?? 'nothing'} against it at the handshake`, () => {
      const user = authenticator.authenticate({ certificate, certificateFault, authorization: undefined })
      assert.equal(user.name, certificateFault === undefined ? 'jane' : ANONYMOUS_USER.name)
    })
})
