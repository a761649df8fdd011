import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HEADER, loadSettings, nest, problemsOf, shown } from '../../../../test/fakes/load-settings.ts'
import { FIELD_ROWS } from '../../../../test/fixtures/config-field-rows.ts'
import { CADVISOR_FLAG_ROWS, FIELD_FLAG_ROWS, OWN_FLAG_ROWS } from '../../../../test/fixtures/config-flag-rows.ts'
import { listFlagRows } from './flag-rows.ts'

const CLUSTER = '--kubeconfig=/kubeconfig'

const STATIC_CPUS = ['--cpu-manager-policy=static', '--reserved-cpus=0']
// What some flags need beside them to pass the rules.
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  'cgroups-per-qos': ['--enforce-node-allocatable=none'],
  'cpu-manager-policy': ['--reserved-cpus=0'],
  'cpu-manager-policy-options': STATIC_CPUS,
  'system-cgroups': ['--cgroup-root=/'],
  'eviction-soft': ['--eviction-soft-grace-period=memory.available=1m'],
  'log-json-info-buffer-size': ['--feature-gates=LoggingAlphaOptions=true'],
  'log-json-split-stream': ['--feature-gates=LoggingAlphaOptions=true'],
  'log-text-info-buffer-size': ['--feature-gates=LoggingAlphaOptions=true'],
  'log-text-split-stream': ['--feature-gates=LoggingAlphaOptions=true'],
}

describe('flags that set a field', () => {
  for (const [name, type, field, deprecated, text, value] of FIELD_FLAG_ROWS) {
    test(`--${name} sets ${field}`, async () => {
      const settings = await loadSettings([CLUSTER, `--${name}=${text}`, ...(COMPANIONS[name] ?? [])])
      assert.deepEqual(shown(settings, field), value)
      const row = listFlagRows().find(({ flag }) => flag.name === name)
      assert.deepEqual(
        [row?.flag.type, row?.flag.deprecated],
        [type === 'pattern=N,...' ? 'pattern=N,…' : type, deprecated],
      )
      const warned = settings.warnings.filter((line) => line.includes(`--${name} `))
      assert.equal(warned.length, deprecated ? 1 : 0)
    })

    test(`--${name} wins over the file`, async () => {
      const [, , , sample, injections] = FIELD_ROWS.find(([path]) => path === field) ?? []
      const file = { ...injections?.with, ...nest(field, sample) }
      const document = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...file }
      const argv = [CLUSTER, '--config=/c', `--${name}=${text}`, ...(COMPANIONS[name] ?? [])]
      const settings = await loadSettings(argv, { '/c': JSON.stringify(document) })
      const gates = field === 'featureGates' ? { ...(sample as object), ...(value as object) } : value
      assert.deepEqual(shown(settings, field), gates)
    })
  }

  test('there are 107', () => assert.equal(new Set(FIELD_FLAG_ROWS.map(([name]) => name)).size, 107))
})

describe('flags that are no field', () => {
  for (const [name, type, unset, deprecated] of [...OWN_FLAG_ROWS, ...CADVISOR_FLAG_ROWS]) {
    test(`--${name} has its type, default and mark`, () => {
      const row = listFlagRows().find(({ flag }) => flag.name === name)
      const zero = row?.field.encode(row.field.unset) ?? (type === 'bool' ? false : '')
      const shownDefault = JSON.stringify(zero).replaceAll('"', '')
      assert.deepEqual([row?.flag.type, shownDefault, row?.flag.deprecated], [type, unset, deprecated])
    })
  }

  test('there are 23 and 19 of upstream, 7 of our own, 11 for Docker, 167 in all', () => {
    assert.deepEqual([OWN_FLAG_ROWS.length, CADVISOR_FLAG_ROWS.length, listFlagRows().length], [30, 19, 167])
  })

  test('arrive, typed', async () => {
    const providers = [
      'apiVersion: kubelet.config.k8s.io/v1',
      'kind: CredentialProviderConfig',
      'providers: [{name: a, matchImages: [b], defaultCacheDuration: 0s, apiVersion: credentialprovider.kubelet.k8s.io/v1}]',
    ].join('\n')
    const argv = [
      '--bootstrap-kubeconfig=/b',
      '--cert-dir=/pki',
      '--cloud-provider=external',
      '--etcd-servers=https://a:2379,https://b:2379',
      '--etcd-prefix=/pods',
      '--etcd-cafile=/ca',
      '--etcd-certfile=/cert',
      '--etcd-keyfile=/key',
      '--etcd-username=node',
      '--etcd-password-file=/password',
      '--exit-on-lock-contention',
      '--experimental-allocatable-ignore-eviction',
      '--experimental-mounter-path=/m',
      '--docker-endpoint=unix:///docker.sock',
      '--pod-infra-container-image=pause:3.6',
      '--image-pull-progress-deadline=30s',
      '--network-plugin=cni',
      '--network-plugin-mtu=1400',
      '--cni-conf-dir=/conf',
      '--cni-bin-dir=/one,/two',
      '--cni-cache-dir=/cache',
      '--hostname-override= Edge-7 ',
      '--image-credential-provider-bin-dir=/bin',
      '--image-credential-provider-config=/p',
      '--kubeconfig=/k',
      '--lock-file=/lock',
      '--maximum-dead-containers=5',
      '--maximum-dead-containers-per-container=2',
      '--minimum-container-ttl-duration=1m',
      '--node-ip=10.0.0.1',
      '--node-labels=a=b,c=d',
      '--root-dir=/root',
      '--runtime-cgroups=/rt',
      '--seccomp-default',
      '--version=v1.36.4-acme.1',
      '--boot-id-file=/boot',
      '--machine-id-file=/id',
      '--housekeeping-interval=5s',
    ]
    const { flags, ...rest } = await loadSettings(argv, { '/p': providers })
    assert.deepEqual(flags, {
      config: '',
      configDir: '',
      rootDir: '/root',
      certDir: '/pki',
      lockFile: '/lock',
      exitOnLockContention: true,
      kubeconfig: '/k',
      bootstrapKubeconfig: '/b',
      hostnameOverride: ' Edge-7 ',
      nodeIp: '10.0.0.1',
      nodeLabels: { a: 'b', c: 'd' },
      cloudProvider: 'external',
      etcdServers: ['https://a:2379', 'https://b:2379'],
      etcdPrefix: '/pods',
      etcdCafile: '/ca',
      etcdCertfile: '/cert',
      etcdKeyfile: '/key',
      etcdUsername: 'node',
      etcdPasswordFile: '/password',
      runtimeCgroups: '/rt',
      seccompDefault: true,
      imageCredentialProviderConfig: '/p',
      imageCredentialProviderBinDir: '/bin',
      minimumContainerTtlDuration: 60_000,
      maximumDeadContainersPerContainer: 2,
      maximumDeadContainers: 5,
      experimentalMounterPath: '/m',
      experimentalAllocatableIgnoreEviction: true,
      containerRuntime: '',
      dockerEndpoint: 'unix:///docker.sock',
      podInfraContainerImage: 'pause:3.6',
      networkContainerImage: '',
      imagePullProgressDeadline: 30_000,
      networkPlugin: 'cni',
      networkPluginMtu: 1400,
      cniConfDir: '/conf',
      cniBinDir: ['/one', '/two'],
      networkPluginDir: [],
      cniCacheDir: '/cache',
      bootIdFile: '/boot',
      machineIdFile: '/id',
      housekeepingInterval: 5000,
    })
    assert.deepEqual(
      [rest.nodeName, rest.nodeIps, rest.withoutApi, rest.version, rest.config.seccompDefault],
      ['edge-7', ['10.0.0.1'], false, 'v1.36.4-acme.1', true],
    )
  })

  const carried = new Set(['boot-id-file', 'machine-id-file', 'housekeeping-interval'])
  for (const [name, , unset] of CADVISOR_FLAG_ROWS.filter(([flag]) => !carried.has(flag))) {
    test(`--${name} is taken and said to have no effect`, async () => {
      const settings = await loadSettings([`--${name}=${unset}`])
      assert.deepEqual(settings.warnings, [`Flag --${name} has no effect`])
    })
  }
})

describe('flag rules', () => {
  const refused: readonly (readonly [argv: readonly string[], problem: RegExp])[] = [
    [['--max-pod=1'], /^unknown flag --max-pod, did you mean --max-pods\?$/],
    [['--qwertzuiop'], /^unknown flag --qwertzuiop$/],
    [['-config=/x'], /^unknown flag -config, did you mean --config\?$/],
    [['-x'], /^unknown flag -x$/],
    [['-etcd_servers=http://a:4001'], /^unknown flag -etcd_servers, did you mean --etcd-servers\?$/],
    [['-hostname_override=a'], /^unknown flag -hostname_override, did you mean --hostname-override\?$/],
    [['-etcd_config=/x'], /^--etcd-config was removed in Kubernetes 0\.13: use --etcd-servers/],
    [['run'], /^unexpected argument "run"/],
    [['--enable-server', 'false'], /^unexpected argument "false"/],
    [['--', '--v=4'], /^unexpected argument "--v=4"/],
    [['--max-pods'], /^--max-pods needs a value of type int32$/],
    [['--max-pods=x'], /^--max-pods="x": expected a whole number/],
    [['--max-pods='], /^--max-pods="": expected a whole number/],
    [['--max-pods=2147483648'], /^--max-pods="2147483648": expected a whole number/],
    [['--v=-1'], /^--v="-1": expected a whole number from 0/],
    [['--enable-server=maybe'], /^--enable-server="maybe": expected true or false$/],
    [['--sync-frequency=5'], /^--sync-frequency="5": expected a duration/],
    [['--address=localhost'], /^--address="localhost": expected an IP address$/],
    [['--log-json-info-buffer-size=x'], /expected a quantity/],
    [['--kube-reserved=cpu'], /^--kube-reserved="cpu": expected key=value in "cpu"$/],
    [['--eviction-hard=memory.available=1Gi'], /expected key<value/],
    [['--manifest-url-header=secret'], /^--manifest-url-header="\*\*\*": /],
    [['--register-with-taints=a=b'], /expected key=value:Effect/],
    [['--reserved-memory=memory=1Gi'], /expected node:resource=quantity/],
    [['--reserved-memory=0:memory=1Gi,memory=2Gi'], /expected each resource once/],
    [['--vmodule=a=x'], /expected pattern=N/],
    [['--feature-gates=PodsAPI=x'], /expected true or false/],
    [['--etcd-servers=a:2379'], /^--etcd-servers\[0\].*: expected http:\/\/host:port/],
    [['--etcd-servers=http://a:2379', '--etcd-certfile=/c'], /^--etcd-certfile.*: expected --etcd-keyfile too/],
    [['--etcd-servers=http://a:2379', '--etcd-username=u'], /^--etcd-username.*: expected --etcd-password-file too/],
    [['--etcd-prefix=/x'], /^--etcd-servers.*: expected servers/],
    [['--etcd-servers=http://a:2379', '--etcd-prefix=/x/'], /^--etcd-prefix.*without "\/"/],
    [['--version=v1.35.0'], /^--version="v1.35.0": expected true, false, raw or a version/],
    [['--cluster-dns="a'], /expected values separated by commas/],
    [['--network-plugin=kubenet'], /^--network-plugin.*kubenet and others were removed in Kubernetes 1.24, use "cni"/],
    [['--non-masquerade-cidr=10.0.0.0/8'], /^--non-masquerade-cidr was removed in Kubernetes 1.24: set the network up/],
    [['--container-runtime=rkt'], /^--container-runtime.*removed in Kubernetes 1\.27, rkt before that in 1\.11/],
    [['--pod-infra-container-image=Bad Image!'], /^--pod-infra-container-image.*expected the name of an image such as/],
    [['--network-container-image=Pause:1'], /^--network-container-image.*must be lowercase/],
    [['--cni_bin_dir=x'], /^--cni-bin-dir\[0\].*expected a whole path/],
    [['--docker-endpoint=tcp://a:2375'], /^--docker-endpoint.*Docker over TCP is not supported/],
    [['--docker-endpoint=/run/docker.sock'], /^--docker-endpoint.*docker.sock, with unix:\/\/ in front$/],
    [['--image-pull-progress-deadline=-1s'], /^--image-pull-progress-deadline.*expected a time above 0$/],
    [
      ['--docker-endpoint=unix:///a.sock', '--container-runtime-endpoint=unix:///b.sock'],
      /^--docker-endpoint.*expected the socket of containerRuntimeEndpoint/,
    ],
    [['--network-plugin-mtu=-1'], /^--network-plugin-mtu.*from 0 to 65535/],
    [['--docker-root=/x'], /^--docker-root was removed in Kubernetes 1.24/],
    [
      ['--experimental-fail-swap-on'],
      /^--experimental-fail-swap-on was removed in Kubernetes 1.14: use --fail-swap-on$/,
    ],
    [['--experimental-nonsense'], /^unknown flag --experimental-nonsense$/],
    [['--tls-ca-file=/x'], /^--tls-ca-file is no flag of the kubelet: use --client-ca-file/],
    [['--cloud-provider=aws'], /removed in Kubernetes 1.31, use "external"/],
    [['--logtostderr'], /^--logtostderr was removed in Kubernetes 1.26/],
  ]
  for (const [argv, problem] of refused) {
    test(`refuses ${argv.join(' ')}`, async () => {
      const [first] = await problemsOf(loadSettings(argv))
      assert.match(first ?? '', problem)
    })
  }

  test('reports all mistakes at once, unknown flags and bad values', async () => {
    const problems = await problemsOf(
      loadSettings(['--nope', '--max-pods=x', '--root-dir', '/r', 'stray', '--storage-driver-secure=x']),
    )
    assert.equal(problems.length, 4)
  })

  const read: readonly (readonly [argv: readonly string[], path: string, value: unknown])[] = [
    [['--max_pods=5'], 'maxPods', 5],
    [['--docker-endpoint=unix:///d.sock'], 'containerRuntimeEndpoint', 'unix:///d.sock'],
    [['--container-runtime=docker'], 'containerRuntimeEndpoint', 'unix:///var/run/docker.sock'],
    [['--max-pods', '5'], 'maxPods', 5],
    [['--max-pods=0x10'], 'maxPods', 16],
    [['--max-pods=1', '--max-pods=2'], 'maxPods', 2],
    [['-v', '4'], 'logging.verbosity', 4],
    [['-v=4'], 'logging.verbosity', 4],
    [['-v4'], 'logging.verbosity', 4],
    [['--v=4'], 'logging.verbosity', 4],
    [['--protect-kernel-defaults'], 'protectKernelDefaults', true],
    [['--enable-server=F'], 'enableServer', false],
    [['--enable-server=0'], 'enableServer', false],
    [['--cluster-dns=10.0.0.1', '--cluster-dns=10.0.0.2,10.0.0.3'], 'clusterDNS', ['10.0.0.1', '10.0.0.2', '10.0.0.3']],
    [['--kube-reserved=cpu=1', '--kube-reserved=memory=1Gi'], 'kubeReserved', { cpu: '1', memory: '1Gi' }],
    [['--manifest-url-header=a:b', '--manifest-url-header=a:c'], 'staticPodURLHeader', { a: ['b', 'c'] }],
    [
      ['--register-with-taints=a=b:NoSchedule', '--register-with-taints=c:NoExecute'],
      'registerWithTaints',
      [{ key: 'c', effect: 'NoExecute' }],
    ],
    [
      ['--reserved-memory=0:memory=1Gi', '--reserved-memory=1:memory=2Gi'],
      'reservedMemory',
      [{ limits: { memory: '1Gi' } }, { numaNode: 1, limits: { memory: '2Gi' } }],
    ],
    [
      [
        ...STATIC_CPUS,
        '--cpu-manager-policy-options=full-pcpus-only=true',
        '--cpu-manager-policy-options=strict-cpu-reservation=false',
      ],
      'cpuManagerPolicyOptions',
      { 'full-pcpus-only': 'true', 'strict-cpu-reservation': 'false' },
    ],
  ]
  for (const [argv, path, value] of read) {
    test(`reads ${argv.join(' ')}`, async () => {
      assert.deepEqual(shown(await loadSettings([CLUSTER, ...argv]), path), value)
    })
  }

  test('keeps the commas of a pair where a flag takes one pair', async () => {
    const problems = await problemsOf(
      loadSettings([...STATIC_CPUS, '--cpu-manager-policy-options=full-pcpus-only=true,a=b']),
    )
    assert.deepEqual(problems, ['cpuManagerPolicyOptions[full-pcpus-only]: expected true or false'])
  })

  test('clears the map and list of the file, but merges feature gates', async () => {
    const text = 'kubeReserved: {cpu: "1"}\nclusterDNS: [10.0.0.1]\nfeatureGates: {PodsAPI: true, EnvFiles: true}\n'
    const argv = ['--kube-reserved=memory=1Gi', '--cluster-dns=10.0.0.2', '--feature-gates=EnvFiles=false']
    const { config, gates } = await loadSettings([CLUSTER, '--config=/c', ...argv], { '/c': HEADER + text })
    assert.deepEqual(config.kubeReserved, { memory: '1Gi' })
    assert.deepEqual(config.clusterDNS, ['10.0.0.2'])
    assert.deepEqual([config.featureGates, gates.enabled('PodsAPI')], [{ PodsAPI: true, EnvFiles: false }, true])
  })

  test('takes zero from a flag as zero', async () => {
    assert.equal((await loadSettings(['--max-pods=0'])).config.maxPods, 0)
    assert.deepEqual(await problemsOf(loadSettings(['--port=0'])), ['port: expected 1 to 65535'])
    assert.match(
      (await problemsOf(loadSettings(['--container-runtime-endpoint=']))).join(),
      /^containerRuntimeEndpoint: /,
    )
  })

  test('warns once for a deprecated flag, however often it is given', async () => {
    const { warnings } = await loadSettings(['--max-pods=1', '--max-pods=2'])
    assert.deepEqual(warnings, ['Flag --max-pods is deprecated: set maxPods in the file of --config'])
  })

  const broken: readonly (readonly [argv: readonly string[], path: string])[] = [
    [['--exit-on-lock-contention'], '--exit-on-lock-contention'],
    [['--cloud-provider=aws'], '--cloud-provider'],
    [['--root-dir='], '--root-dir'],
    [['--node-labels=kubernetes.io/foo=bar'], '--node-labels[kubernetes.io/foo]'],
    [['--node-labels=x.k8s.io/foo=bar'], '--node-labels[x.k8s.io/foo]'],
    [['--node-labels=a b=c'], '--node-labels[a b]'],
    [['--node-labels=a=-'], '--node-labels[a]'],
    [['--hostname-override= '], '--hostname-override'],
    [['--node-ip=10.0.0.1,10.0.0.2'], '--node-ip'],
    [['--node-ip=0.0.0.0,::'], '--node-ip'],
  ]
  for (const [argv, path] of broken) {
    test(`finds what is wrong with ${argv.join(' ')}`, async () => {
      assert.deepEqual(
        (await problemsOf(loadSettings(argv))).map((problem) => problem.slice(0, path.length + 1)),
        [`${path}:`],
      )
    })
  }

  test('takes labels that a node may give itself', async () => {
    const labels =
      'node.kubernetes.io/foo=bar,x.kubelet.kubernetes.io/a=b,kubernetes.io/arch=amd64,topology.kubernetes.io/zone=z,a='
    assert.equal(Object.keys((await loadSettings([`--node-labels=${labels}`])).flags.nodeLabels).length, 5)
  })

  test('leaves out what is no address in --node-ip, with a warning', async () => {
    const { nodeIps, warnings } = await loadSettings(['--node-ip=10.0.0.1, x, fd00::1'])
    assert.deepEqual([nodeIps, warnings.length], [['10.0.0.1', 'fd00::1'], 1])
  })
})
