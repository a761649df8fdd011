import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { loadSettings, shown } from '../../../test/fakes/load-settings.ts'
import { KUBEADM_DROP_IN, kubeadmConfig } from '../../../test/fixtures/kubeadm-files.ts'
import { computeUnitCommand } from '../../../test/package/unit-command.ts'

const unit = readFileSync(join(import.meta.dirname, 'deckhand-kubelet/kubelet.service'), 'utf8')

/** The settings of the agent that our unit starts with kubeadm's drop-in. */
async function load(files: Readonly<Record<string, string>>) {
  const [program, ...flags] = computeUnitCommand([unit, KUBEADM_DROP_IN], (path) => files[path])
  assert.equal(program, '/usr/bin/kubelet')
  return await loadSettings(flags, { '/var/lib/kubelet/config.yaml': JSON.stringify(kubeadmConfig) })
}

describe('the unit of the Debian package on a node that kubeadm made', () => {
  test('takes the configuration of kubeadm 1.36 as it is, where durations of zero are not set', async () => {
    const settings = await load({ '/var/lib/kubelet/kubeadm-flags.env': 'KUBELET_KUBEADM_ARGS=""\n' })
    assert.deepEqual(settings.warnings, [])
    const expected = {
      containerRuntimeEndpoint: 'unix:///var/run/containerd/containerd.sock',
      staticPodPath: '/etc/kubernetes/manifests',
      clusterDNS: ['10.96.0.10'],
      cgroupDriver: 'systemd',
      'authentication.x509.clientCAFile': '/etc/kubernetes/pki/ca.crt',
      // Defaults, in the place of zeros.
      'authentication.webhook.cacheTTL': '2m0s',
      streamingConnectionIdleTimeout: '4h0m0s',
      nodeStatusUpdateFrequency: '10s',
      runtimeRequestTimeout: '2m0s',
      'logging.flushFrequency': '5s',
    }
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((path) => [path, shown(settings, path)])), expected)
  })

  test('takes the flags of kubeadm and of the site, the latter in the end', async () => {
    const settings = await load({
      '/var/lib/kubelet/kubeadm-flags.env':
        'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/a.sock --hostname-override=a --register-with-taints=node-role.kubernetes.io/control-plane:NoSchedule"\n',
      '/etc/default/kubelet': 'KUBELET_EXTRA_ARGS="--node-ip=192.0.2.1 --hostname-override=b"\n',
    })
    assert.equal(shown(settings, 'containerRuntimeEndpoint'), 'unix:///run/a.sock')
    assert.equal(settings.nodeName, 'b')
    assert.deepEqual(shown(settings, 'registerWithTaints'), [
      { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
    ])
  })
})
