import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadSettings, shown } from '../../../../test/fakes/load-settings.ts'
import { computeNodeLayout } from '../node-layout.ts'
import { createAgentConfig } from './agent-config.ts'
import { agentFlags } from './agent-process.ts'

const layout = computeNodeLayout('/a')
const ports = { kubernetes: 4, agent: 1, healthz: 3 }
const text = createAgentConfig(layout, { nodeName: 'n', cgroupRoot: '/c', manifests: '/m', ports })

/** Section 4.2 of the CIS Kubernetes benchmark: what its checkers read in the file. The numbers changed over its versions. */
const CIS: readonly (readonly [what: string, path: string, isGood: (value: unknown) => boolean])[] = [
  ['4.2.1 no anonymous callers', 'authentication.anonymous.enabled', (value) => value === false],
  ['4.2.2 not every caller may do everything', 'authorization.mode', (value) => value === 'Webhook'],
  ['4.2.3 an authority for clients', 'authentication.x509.clientCAFile', (value) => value === '/a/api/pki/ca.crt'],
  ['4.2.4 no read-only port', 'readOnlyPort', (value) => value === 0],
  ['4.2.5 idle streams end', 'streamingConnectionIdleTimeout', (value) => value !== '0s'],
  ['4.2.6 its own iptables chains', 'makeIPTablesUtilChains', (value) => value === true],
  ['4.2.8/9 events are limited, not dropped', 'eventRecordQPS', (value) => Number(value) > 0],
  ['4.2.9/10 a serving certificate of the cluster', 'serverTLSBootstrap', (value) => value === true],
  ['4.2.10/11 client certificates rotate', 'rotateCertificates', (value) => value === true],
  ['4.2.11/12 so do serving ones', 'featureGates.RotateKubeletServerCertificate', (value) => value === true],
  ['4.2.12/13 strong ciphers', 'tlsCipherSuites', (value) => (value as string[]).every(isStrong)],
  ['4.2.12/13 no old TLS', 'tlsMinVersion', (value) => value === 'VersionTLS12'],
  ['4.2.13/14 a limit of processes', 'podPidsLimit', (value) => Number(value) > 0],
  ['4.2.14 seccomp', 'seccompDefault', (value) => value === true],
]

function isStrong(name: string): boolean {
  return /^TLS_ECDHE_(ECDSA|RSA)_WITH_(AES_(128|256)_GCM_SHA\d+|CHACHA20_POLY1305)$/.test(name)
}

describe('createAgentConfig()', () => {
  test('collects images only in a runtime of its own: those of another are its user’s too', () => {
    const record = { nodeName: 'n', cgroupRoot: '/c', manifests: '/m', ports }
    const highest = (runtime?: string) => {
      const config = createAgentConfig(layout, runtime === undefined ? record : { ...record, runtime })
      return (JSON.parse(config) as Record<string, unknown>)['imageGCHighThresholdPercent']
    }
    assert.deepEqual([highest(), highest('unix:///var/run/docker.sock')], [undefined, 100])
  })

  for (const [what, path, isGood] of CIS) {
    test(`spells out for the CIS benchmark: ${what}`, () => {
      const value = path
        .split('.')
        .reduce<unknown>((found, name) => (found as Readonly<Record<string, unknown>>)[name], JSON.parse(text))
      assert.notEqual(value, undefined)
      assert.ok(isGood(value), `${path} is ${JSON.stringify(value)}`)
    })
  }

  test('is taken by the agent without a warning, and means what it says', async () => {
    const settings = await loadSettings([...agentFlags({ layout, nodeName: 'n' })], {
      [layout.agentConfig]: text,
      [layout.settings]: null,
    })
    assert.deepEqual(settings.warnings, [])
    for (const [, path, isGood] of CIS) {
      const value = shown(settings, path)
      if (value !== undefined) assert.ok(isGood(value), `${path} is ${JSON.stringify(value)}`)
    }
  })
})
