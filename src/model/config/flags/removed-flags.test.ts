import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dockerFlags } from './docker-flags.ts'
import { listFlagRows } from './flag-rows.ts'
import { explainRemovedFlag } from './removed-flags.ts'

// The first release without them, as the releases themselves show.
const REMOVED: readonly (readonly [since: string, names: string])[] = [
  ['0.10', 'network-container-image'],
  ['0.13', 'etcd-config'],
  ['0.19', 'docker-daemon-container'],
  ['1.5', 'configure-cbr0 experimental-flannel-overlay'],
  [
    '1.6',
    'reconcile-cidr auth-path resource-container system-container experimental-cgroups-per-qos experimental-nvidia-gpus',
  ],
  ['1.7', 'experimental-cri enable-cri babysit-daemons'],
  ['1.8', 'api-servers low-diskspace-threshold-mb outofdisk-transition-frequency'],
  ['1.9', 'network-plugin-dir docker-exec-handler'],
  ['1.10', 'require-kubeconfig init-config-dir'],
  [
    '1.11',
    'rkt-path rkt-api-endpoint rkt-stage1-image experimental-allowed-unsafe-sysctls experimental-qos-reserved enable-custom-metrics',
  ],
  ['1.12', 'docker-disable-shared-pid cadvisor-port'],
  ['1.13', 'google-json-key'],
  ['1.14', 'experimental-fail-swap-on'],
  ['1.15', 'allow-privileged host-network-sources host-pid-sources host-ipc-sources'],
  ['1.16', 'containerized'],
  ['1.19', 'experimental-dockershim bootstrap-checkpoint-path'],
  ['1.21', 'enable-cadvisor-json-endpoints'],
  ['1.22', 'redirect-container-streaming chaos-chance'],
  ['1.23', 'experimental-bootstrap-kubeconfig seccomp-profile-root'],
  [
    '1.24',
    'docker-endpoint image-pull-progress-deadline network-plugin network-plugin-mtu cni-conf-dir cni-bin-dir cni-cache-dir non-masquerade-cidr experimental-dockershim-root-directory docker docker-only docker-root docker-env-metadata-whitelist docker-tls docker-tls-ca docker-tls-cert docker-tls-key dynamic-config-dir experimental-check-node-capabilities-before-mount experimental-logging-sanitization really-crash-for-testing',
  ],
  ['1.25', 'experimental-kernel-memcg-notification'],
  [
    '1.26',
    'alsologtostderr log-backtrace-at log-dir logtostderr stderrthreshold log-file log-file-max-size skip-headers skip-log-headers add-dir-header one-output',
  ],
  ['1.27', 'container-runtime master-service-namespace'],
  ['1.30', 'azure-container-registry-config'],
  ['1.31', 'keep-terminated-pod-volumes iptables-masquerade-bit iptables-drop-bit'],
  ['1.34', 'register-schedulable cloud-config'],
  ['1.35', 'pod-infra-container-image'],
]
const forDocker = new Set(Object.values(dockerFlags).map(({ flag }) => flag?.name))
const flags = new Set(listFlagRows().map(({ flag }) => flag.name))

describe('explainRemovedFlag()', () => {
  for (const [since, names] of REMOVED)
    test(`knows what Kubernetes ${since} removed`, () => {
      for (const name of names.split(' ')) {
        const text = explainRemovedFlag(name) ?? ''
        assert.ok(text.startsWith(`--${name} was removed in Kubernetes ${since}: `), `${name}: ${text}`)
        assert.equal(flags.has(name), forDocker.has(name), `${name} is a flag`)
        const [, instead = ''] = text.split(': ')
        for (const [, named = ''] of instead.matchAll(/--([a-z-]+)/g)) assert.ok(flags.has(named), text)
      }
    })

  test('says nothing about flags that no kubelet had', () => {
    assert.deepEqual(['max-pods', 'qwertzuiop', 'experimental-x', 'toString'].map(explainRemovedFlag), [
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})
