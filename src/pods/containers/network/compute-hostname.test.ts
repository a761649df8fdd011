import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import type { PodParts } from '../../../../test/builders/create-pod.ts'
import { computePodHostname, computeSandboxHostname } from './compute-hostname.ts'
import { SandboxConfigError } from '../pod-config-error.ts'

const long = `${'a'.repeat(62)}-tail`

interface Row extends PodParts {
  readonly name: string
  readonly short: string
  readonly domain?: string
  readonly sandbox?: string
}

const rows: readonly Row[] = [
  { name: 'the name of the pod', short: 'web' },
  { name: 'a long name is cut and does not end in a dash', metadata: { name: long }, short: 'a'.repeat(62) },
  { name: 'the hostname of the spec', spec: { hostname: 'front' }, short: 'front' },
  { name: 'an empty hostname is none', spec: { hostname: '', subdomain: '' }, short: 'web' },
  { name: 'a subdomain makes a domain', spec: { subdomain: 'sub' }, short: 'web', domain: 'sub.shop.svc.c.test' },
  {
    name: 'the full name is set when asked for',
    spec: { subdomain: 'sub', setHostnameAsFQDN: true },
    short: 'web',
    domain: 'sub.shop.svc.c.test',
    sandbox: 'web.sub.shop.svc.c.test',
  },
  { name: 'the full name without a subdomain is short', spec: { setHostnameAsFQDN: true }, short: 'web' },
  {
    name: 'the override wins and has no domain',
    spec: { hostnameOverride: 'x.example.test', hostname: 'front', subdomain: 'sub', setHostnameAsFQDN: true },
    short: 'x.example.test',
  },
  { name: 'a long override is cut', spec: { hostnameOverride: `${'b'.repeat(62)}.b` }, short: 'b'.repeat(62) },
  {
    name: 'none in the network of the node',
    spec: { hostNetwork: true, subdomain: 'sub' },
    short: 'web',
    domain: 'sub.shop.svc.c.test',
    sandbox: '',
  },
]

describe('computePodHostname() and computeSandboxHostname()', () => {
  for (const { name, metadata = {}, spec = {}, short, domain = '', sandbox = short } of rows) {
    test(name, () => {
      const pod = createPod({ metadata, spec })
      assert.deepEqual(computePodHostname(pod, 'c.test'), { short, domain })
      assert.equal(computeSandboxHostname(pod, 'c.test'), sandbox)
    })
  }

  for (const spec of [
    { hostname: 'Front' },
    { hostname: 'a.b' },
    { hostname: 'h'.repeat(64) },
    { subdomain: 'a.b' },
    { hostnameOverride: 'a..b' },
    { hostnameOverride: 'a_b' },
  ]) {
    test(`rejects ${JSON.stringify(spec)}`, () => {
      assert.throws(() => computePodHostname(createPod({ spec }), 'c.test'), SandboxConfigError)
    })
  }

  test('rejects a full name of more than 64 characters', () => {
    const domain = '.sub.shop.svc.c.test'
    const podNamed = (length: number) =>
      createPod({ spec: { hostname: 'h'.repeat(length), subdomain: 'sub', setHostnameAsFQDN: true } })
    assert.equal(computeSandboxHostname(podNamed(64 - domain.length), 'c.test').length, 64)
    const name = `${'h'.repeat(65 - domain.length)}${domain}`
    assert.throws(
      () => computeSandboxHostname(podNamed(65 - domain.length), 'c.test'),
      new SandboxConfigError(
        `failed to construct FQDN from pod hostname and cluster domain, FQDN ${name} is too long (64 characters is the max, 65 characters requested)`,
      ),
    )
  })
})
