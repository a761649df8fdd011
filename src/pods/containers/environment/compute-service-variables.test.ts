import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Service, ServiceSpec } from '../../../model/generated/core-v1.ts'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { computeServiceVariables } from './compute-service-variables.ts'

const service = (namespace: string, name: string, spec: ServiceSpec): Service => ({
  metadata: { name, namespace },
  spec,
})
const kubernetes = service('default', 'kubernetes', { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443 }] })
const webApp = service('shop', 'web-app', {
  clusterIP: 'fd00::7',
  ports: [{ port: 80 }, { name: 'dns-udp', port: 53, protocol: 'UDP' }],
})
const variables = (services: readonly Service[], enableServiceLinks = true) =>
  Object.fromEntries(computeServiceVariables(createPod({ spec: { enableServiceLinks } }), services))

describe('computeServiceVariables()', () => {
  test('says where the API server is', () => {
    assert.deepEqual(variables([kubernetes, webApp], false), {
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
      KUBERNETES_SERVICE_PORT: '443',
      KUBERNETES_SERVICE_PORT_HTTPS: '443',
      KUBERNETES_PORT: 'tcp://10.96.0.1:443',
      KUBERNETES_PORT_443_TCP: 'tcp://10.96.0.1:443',
      KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
      KUBERNETES_PORT_443_TCP_PORT: '443',
      KUBERNETES_PORT_443_TCP_ADDR: '10.96.0.1',
    })
  })

  test('says where the services of the namespace are', () => {
    assert.deepEqual(variables([webApp]), {
      WEB_APP_SERVICE_HOST: 'fd00::7',
      WEB_APP_SERVICE_PORT: '80',
      WEB_APP_SERVICE_PORT_DNS_UDP: '53',
      WEB_APP_PORT: 'tcp://[fd00::7]:80',
      WEB_APP_PORT_80_TCP: 'tcp://[fd00::7]:80',
      WEB_APP_PORT_80_TCP_PROTO: 'tcp',
      WEB_APP_PORT_80_TCP_PORT: '80',
      WEB_APP_PORT_80_TCP_ADDR: 'fd00::7',
      WEB_APP_PORT_53_UDP: 'udp://[fd00::7]:53',
      WEB_APP_PORT_53_UDP_PROTO: 'udp',
      WEB_APP_PORT_53_UDP_PORT: '53',
      WEB_APP_PORT_53_UDP_ADDR: 'fd00::7',
    })
  })

  test('leaves out other namespaces and services without an address', () => {
    const others = [
      service('other', 'a', { clusterIP: '10.0.0.1', ports: [{ port: 1 }] }),
      service('shop', 'headless', { clusterIP: 'None', ports: [{ port: 1 }] }),
      service('shop', 'pending', { clusterIP: '', ports: [{ port: 1 }] }),
      service('shop', 'unset', { ports: [{ port: 1 }] }),
    ]
    assert.deepEqual(variables(others), {})
  })

  test('a service of the namespace hides the one of the same name in default', () => {
    const own = service('shop', 'kubernetes', { clusterIP: '10.9.9.9', ports: [{ port: 1 }] })
    for (const services of [
      [own, kubernetes],
      [kubernetes, own],
    ]) {
      assert.equal(variables(services)['KUBERNETES_SERVICE_HOST'], '10.9.9.9')
      assert.equal(variables(services, false)['KUBERNETES_SERVICE_HOST'], '10.96.0.1')
    }
  })
})
