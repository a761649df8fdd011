import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toTlsSettings } from './to-tls-settings.ts'

const TLS13 = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'

test('toTlsSettings() speaks OpenSSL, and cannot choose among the suites of TLS 1.3', () => {
  const config = { tlsMinVersion: '', tlsCipherSuites: [], tlsCurvePreferences: [] } as const
  const rows: readonly (readonly [Partial<Parameters<typeof toTlsSettings>[0]>, object])[] = [
    [{}, { minVersion: 'TLSv1.2' }],
    [{ tlsMinVersion: 'VersionTLS13' }, { minVersion: 'TLSv1.3' }],
    [{ tlsMinVersion: 'VersionTLS10' }, { minVersion: 'TLSv1' }],
    [
      { tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'] },
      { minVersion: 'TLSv1.2', ciphers: `${TLS13}:ECDHE-RSA-AES128-GCM-SHA256` },
    ],
    [{ tlsCipherSuites: ['TLS_AES_128_GCM_SHA256'] }, { minVersion: 'TLSv1.3' }],
    [{ tlsCurvePreferences: [29, 23] }, { minVersion: 'TLSv1.2', groups: 'X25519:P-256' }],
  ]
  for (const [change, expected] of rows) assert.deepEqual(toTlsSettings({ ...config, ...change }), expected)
})
