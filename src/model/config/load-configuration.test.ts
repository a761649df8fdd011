import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeConfigFiles } from '../../../test/fakes/fake-config-files.ts'
import { HEADER, loadFields, loadSettings, MACHINE, problemsOf } from '../../../test/fakes/load-settings.ts'
import { ConfigError, FlagError, formatConfigError } from './config-error.ts'
import { listFlagRows } from './flags/flag-rows.ts'
import { loadConfiguration } from './load-configuration.ts'

const CLUSTER = '--kubeconfig=/kubeconfig'

function withFile(text: string, ...argv: readonly string[]) {
  return loadSettings([CLUSTER, '--config=/etc/kubelet.yaml', ...argv], { '/etc/kubelet.yaml': HEADER + text })
}

function command(...argv: readonly string[]) {
  return loadConfiguration(argv, { files: new FakeConfigFiles({}), machine: MACHINE })
}

describe('loading --config', () => {
  const fatal: readonly (readonly [what: string, text: string, problem: RegExp])[] = [
    ['a wrong type', `${HEADER}maxPods: many\n`, /^maxPods: expected a whole number .* \(\/c line 3\)$/],
    ['an empty file', '', /^\/c: expected a configuration, the file is empty$/],
    ['a file of comments', '# nothing\n', /the file is empty/],
    [
      'another kind',
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: CredentialProviderConfig\n',
      /^\/c: kind: expected KubeletConfiguration$/,
    ],
    [
      'another version',
      'apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration\n',
      /^\/c: apiVersion: expected kubelet/,
    ],
    ['no header', 'maxPods: 5\n', /^\/c: apiVersion: /],
    ['a list', '- a\n', /^\/c: expected an object$/],
    ['broken YAML', `${HEADER}a: [1\n`, /^\/c: expected YAML or JSON: .* at line \d/],
    ['a file of more than 10 MiB', `${HEADER}# ${'x'.repeat(10 * 1024 * 1024)}`, /expected at most 10485760 bytes/],
    ['an alias bomb', `${HEADER}a: &a [1,1,1,1,1,1,1,1,1,1]\n${bomb(9)}`, /aliases repeat too much/],
    ['an alias of itself', `${HEADER}a: &a [*a]\n`, /contains itself/],
    ['a deep nest', `${HEADER}a: ${'['.repeat(300)}${']'.repeat(300)}\n`, /nested too deeply/],
    ['an endless nest', `${HEADER}a: ${'['.repeat(5000)}${']'.repeat(5000)}\n`, /^\/c: expected/],
    ['an alias without anchor', `${HEADER}a: *b\n`, /expected/],
    ['a key that is no text', `${HEADER}? [a]\n: 1\n`, /expected a key that is text at line 3$/],
    [
      'an infinite number',
      `${HEADER}memoryThrottlingFactor: .inf\n`,
      /^\/c: expected YAML or JSON: \.inf is no number that JSON can hold at line 3$/,
    ],
  ]
  for (const [what, text, problem] of fatal) {
    test(`refuses ${what}`, async () => {
      const [first] = await problemsOf(loadSettings(['--config=/c'], { '/c': text }))
      assert.match(first ?? '', problem)
    })
  }

  function bomb(levels: number): string {
    return Array.from({ length: levels }, (_, index) => {
      const name = String.fromCodePoint(98 + index)
      const previous = `*${String.fromCodePoint(97 + index)}`
      return `${name}: &${name} [${Array.from({ length: 10 }, () => previous).join()}]\n`
    }).join('')
  }

  test('refuses a missing file', async () => {
    assert.match((await problemsOf(loadSettings(['--config=/nowhere']))).join(), /^\/nowhere: Cannot read/)
  })

  test('leaves out an unknown field, and one in the wrong case, with a warning that has the line', async () => {
    const { config, warnings } = await withFile(
      'maxpods: 5\nlogging:\n  fromat: json\nnope: 1\n__proto__: {maxPods: 7}\n',
    )
    assert.equal(config.maxPods, 110)
    assert.deepEqual(warnings.toSorted(), [
      '/etc/kubelet.yaml line 3: unknown field maxpods, which is written maxPods',
      '/etc/kubelet.yaml line 5: unknown field logging.fromat',
      '/etc/kubelet.yaml line 6: unknown field nope',
      '/etc/kubelet.yaml line 7: unknown field __proto__',
    ])
  })

  test('takes the last of a field given twice, with a warning', async () => {
    const { config, warnings } = await withFile('maxPods: 5\nmaxPods: 6\n')
    assert.equal(config.maxPods, 6)
    assert.deepEqual(warnings, ['/etc/kubelet.yaml line 4: field maxPods is given twice, the last one counts'])
  })

  test('uses the first of several documents, with a warning', async () => {
    const { config, warnings } = await withFile('maxPods: 5\n---\nmaxPods: 6\n')
    assert.deepEqual(
      [config.maxPods, warnings],
      [5, ['/etc/kubelet.yaml: only the first document of the file is used']],
    )
  })

  test('reads JSON, tabs and all', async () => {
    const text =
      '{\n\t"apiVersion": "kubelet.config.k8s.io/v1beta1",\n\t"kind": "KubeletConfiguration",\n\t"maxPods": 7\n}\n'
    assert.equal((await loadSettings(['--config=/c'], { '/c': text })).config.maxPods, 7)
  })

  test('reads YAML as the parser of Go does', async () => {
    const text =
      'failSwapOn: no\nmaxPods: 0o17\nport: 0x2000\nmemoryThrottlingFactor: 5e-1\nclusterDomain: "no"\nproviderID: !!str 5\n'
    const { config } = await withFile(
      `${text}x: &x {enabled: true}\nauthentication: {anonymous: *x}\nregistryBurst: 010\n`,
    )
    const {
      failSwapOn,
      maxPods,
      port,
      memoryThrottlingFactor,
      clusterDomain,
      providerID,
      authentication,
      registryBurst,
    } = config
    assert.deepEqual(
      [
        failSwapOn,
        maxPods,
        port,
        memoryThrottlingFactor,
        clusterDomain,
        providerID,
        authentication.anonymous.enabled,
        registryBurst,
      ],
      [false, 15, 8192, 0.5, 'no', '5', true, 8],
    )
  })

  test('merges "<<" below what is written', async () => {
    const { config } = await withFile('x: &x {cpu: "1", pid: "9"}\nkubeReserved: {<<: *x, cpu: "2"}\n')
    assert.deepEqual(config.kubeReserved, { cpu: '2', pid: '9' })
  })

  test('counts relative paths from the folder of the file, but not those of flags and drop-ins', async () => {
    const text = 'staticPodPath: pods\ntlsCertFile: ../tls.crt\nresolvConf: resolv.conf\nvolumePluginDir: plugins\n'
    const more = 'tlsPrivateKeyFile: ./tls.key\npodLogsDir: logs\nauthentication: {x509: {clientCAFile: ca.crt}}\n'
    const { config } = await withFile(text + more)
    assert.deepEqual(
      [config.staticPodPath, config.tlsCertFile, config.tlsPrivateKeyFile, config.resolvConf, config.volumePluginDir],
      ['/etc/pods', '/tls.crt', '/etc/tls.key', '/etc/resolv.conf', '/etc/plugins'],
    )
    assert.deepEqual([config.podLogsDir, config.authentication.x509.clientCAFile], ['/etc/logs', '/etc/ca.crt'])
    assert.equal((await withFile('resolvConf: ""\n')).config.resolvConf, '')
    assert.equal((await loadSettings(['--pod-manifest-path=pods'])).config.staticPodPath, 'pods')
    const dropIn = await loadSettings(['--config-dir=/d'], {
      '/d': null,
      '/d/a.conf': `${HEADER}staticPodPath: pods\n`,
    })
    assert.equal(dropIn.config.staticPodPath, 'pods')
  })

  test('ties the report frequency to the update frequency when only that one is set', async () => {
    const reports = async (text: string, ...argv: readonly string[]) =>
      (await withFile(text, ...argv)).config.nodeStatusReportFrequency
    assert.equal(await reports(''), 300_000)
    assert.equal(await reports('nodeStatusUpdateFrequency: 20s\n'), 20_000)
    assert.equal(await reports('nodeStatusUpdateFrequency: 0s\n'), 300_000)
    assert.equal(await reports('nodeStatusUpdateFrequency: 20s\nnodeStatusReportFrequency: 1m\n'), 60_000)
    assert.equal(await reports('', '--node-status-update-frequency=20s'), 300_000)
  })

  const defaults = {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
    'imagefs.inodesFree': '5%',
  }
  test('fills evictionHard when the file has none', async () => {
    const hard = async (text: string) => (await withFile(text)).config.evictionHard
    assert.deepEqual(await hard(''), defaults)
    assert.deepEqual(await hard('evictionHard: {}\n'), {})
    assert.deepEqual(await hard('evictionHard: {memory.available: 1Gi}\n'), { 'memory.available': '1Gi' })
    const merged = { ...defaults, 'memory.available': '1Gi' }
    assert.deepEqual(await hard('evictionHard: {memory.available: 1Gi}\nmergeDefaultEvictionSettings: true\n'), merged)
    assert.deepEqual((await loadSettings([])).config.evictionHard, {})
  })

  test('refuses an unknown or locked feature gate in the file and in the flag', async () => {
    const rule = /^featureGates\[EnvFile\]: expected the name of a feature gate, did you mean EnvFiles\?$/
    assert.match((await problemsOf(withFile('featureGates: {EnvFile: true}\n'))).join(), rule)
    assert.match((await problemsOf(loadSettings(['--feature-gates=EnvFile=true']))).join(), rule)
    assert.match(
      (await problemsOf(withFile('featureGates: {NodeSwap: false}\n'))).join(),
      /expected true: the gate is locked$/,
    )
  })
})

describe('effective settings', () => {
  test('start closed without a file', async () => {
    const { config, access } = await loadSettings([CLUSTER])
    assert.equal(config.readOnlyPort, 0)
    assert.deepEqual(access, { clientCaFile: '', anonymous: false, tokenWebhook: true, authorization: 'Webhook' })
  })

  test('stand alone without asking an API server that is not there', async () => {
    const { withoutApi, access, config } = await loadSettings(['--client-ca-file=/ca.crt'])
    assert.deepEqual(access, {
      clientCaFile: '/ca.crt',
      anonymous: false,
      tokenWebhook: false,
      authorization: 'ClientCertificate',
    })
    assert.deepEqual([withoutApi, config.authentication.webhook.enabled], [true, false])
    assert.equal((await loadSettings(['--authorization-mode=AlwaysAllow'])).access.authorization, 'AlwaysAllow')
  })

  test('refuse webhooks that were asked for where there is no API server', async () => {
    const argv = ['--authentication-token-webhook', '--authorization-mode=Webhook']
    assert.deepEqual(
      (await problemsOf(loadSettings(argv))).map((problem) => problem.split(':')[0]),
      ['authentication.webhook.enabled', 'authorization.mode'],
    )
    const files = { '/c': `${HEADER}authorization: {mode: Webhook}\n`, '/d': null }
    assert.equal((await problemsOf(loadSettings(['--config=/c', '--config-dir=/d'], files))).length, 1)
  })

  test('pull four images at a time unless set otherwise', async () => {
    const pulls = async (fields: object) => {
      const { serializeImagePulls, maxParallelImagePulls } = (await loadFields(fields)).config
      return [serializeImagePulls, maxParallelImagePulls]
    }
    assert.deepEqual(await pulls({}), [false, 4])
    assert.deepEqual(await pulls({ maxParallelImagePulls: 9 }), [false, 9])
    assert.deepEqual(await pulls({ serializeImagePulls: true }), [true, 1])
    const { config } = await withFile('', '--serialize-image-pulls=true')
    assert.deepEqual([config.serializeImagePulls, config.maxParallelImagePulls], [true, 1])
  })

  test('take runOnce, as field and flag', async () => {
    assert.equal((await loadFields({ runOnce: true })).config.runOnce, true)
    assert.equal((await loadSettings(['--runonce'])).config.runOnce, true)
  })

  test('follow the cgroup version of the machine', async () => {
    const v1 = { ...MACHINE, cgroupVersion: 1 as const }
    assert.equal((await loadFields({}, v1)).config.singleProcessOOMKill, true)
    const fields = { failCgroupV1: true, singleProcessOOMKill: false, memorySwap: { swapBehavior: 'LimitedSwap' } }
    assert.deepEqual(await problemsOf(loadFields(fields, v1)), [
      'memorySwap.swapBehavior: expected a machine with cgroup v2',
      'singleProcessOOMKill: expected true on a machine with cgroup v1',
      'failCgroupV1: expected a machine with cgroup v2',
    ])
  })

  test('name the node by its host name in lower case; an empty one is refused', async () => {
    assert.equal((await loadSettings([])).nodeName, 'node-1')
    assert.deepEqual(await problemsOf(loadSettings([], {}, { ...MACHINE, hostname: ' ' })), [
      'host name: expected a name for the node',
    ])
  })

  test('refuse a name that no API takes for a Node, and say how to give another', async () => {
    const odd = { ...MACHINE, hostname: 'My_Host' }
    const rule = 'expected letters, digits, "-" and ".", each part starting and ending with a letter or digit'
    assert.deepEqual(await problemsOf(loadSettings(['--kubeconfig=/k'], {}, odd)), [
      `host name: ${rule}, or another name by --hostname-override`,
    ])
    const flags = ['--kubeconfig=/k', '--hostname-override=a_b']
    assert.deepEqual(await problemsOf(loadSettings(flags)), [`--hostname-override: ${rule}`])
    assert.equal((await loadSettings([], {}, odd)).nodeName, 'my_host', 'nobody is asked without an API')
  })

  test('let reserved CPUs replace CPU quantities', async () => {
    const fields = {
      reservedSystemCPUs: '0-2',
      kubeReserved: { cpu: '1', memory: '1Gi' },
      systemReserved: { pid: '5' },
    }
    const { reserved, config } = await loadFields(fields)
    assert.deepEqual(reserved, { kube: { memory: '1Gi' }, system: { pid: '5', cpu: '3' } })
    assert.deepEqual(config.kubeReserved, fields.kubeReserved)
    assert.deepEqual((await loadFields({ kubeReserved: { cpu: '1' } })).reserved, { kube: { cpu: '1' }, system: {} })
  })

  test('fill in the cgroup root and the socket for images', async () => {
    const of = async (fields: object) => {
      const { cgroupRoot, imageServiceEndpoint } = await loadFields(fields)
      return [cgroupRoot, imageServiceEndpoint]
    }
    assert.deepEqual(await of({ containerRuntimeEndpoint: 'unix:///a' }), ['/', 'unix:///a'])
    assert.deepEqual(await of({ cgroupRoot: '/pods', imageServiceEndpoint: 'unix:///b' }), ['/pods', 'unix:///b'])
    assert.deepEqual((await of({ cgroupsPerQOS: false, enforceNodeAllocatable: [] }))[0], '')
  })

  test('say what has no effect and what is left out', async () => {
    const { config, warnings } = await loadFields({ iptablesDropBit: 3, clusterDNS: ['10.0.0.1', 'dns.example.com'] })
    assert.deepEqual(config.clusterDNS, ['10.0.0.1'])
    assert.deepEqual(warnings, [
      'iptablesDropBit has no effect',
      'clusterDNS has "dns.example.com", which is not an IP address: left out',
    ])
  })

  test('leave policies of closed gates unset', async () => {
    const fields = {
      featureGates: { KubeletEnsureSecretPulledImages: false, ReduceDefaultCrashLoopBackOffDecay: true },
    }
    const { config } = await loadFields(fields)
    assert.equal(config.imagePullCredentialsVerificationPolicy, undefined)
    assert.equal(config.crashLoopBackOff.maxContainerRestartPeriod, 60_000)
  })
})

describe('--help, --version and errors', () => {
  test('show help by group, with defaults and marks', async () => {
    for (const argv of [['--help'], ['-h'], ['--max-pods=5', '-h', '--version']]) {
      const result = await command(...argv)
      assert.ok(result.kind === 'help')
      for (const { flag } of listFlagRows()) assert.match(result.text, new RegExp(`--${flag.name}[ \\n]`))
      assert.match(result.text, /Resources and eviction:\n/)
      assert.match(result.text, /--max-pods int32 +pods that the node takes \(default 110\) \[maxPods\] DEPRECATED/)
      assert.match(result.text, /-v, --v Level .* \[logging.verbosity\]\n/)
    }
  })

  test('show the version', async () => {
    assert.deepEqual(await command('--version'), { kind: 'version', text: 'Kubernetes v1.36.4' })
    assert.deepEqual(await command('--version=true'), { kind: 'version', text: 'Kubernetes v1.36.4' })
    const raw = await command('--version=raw')
    assert.ok(raw.kind === 'version' && raw.text.includes('"gitVersion":"v1.36.4"'))
    assert.equal((await loadSettings(['--version=false'])).version, 'v1.36.4')
  })

  test('are one problem a line', () => {
    const config = new ConfigError([
      { path: 'maxPods', value: -1, rule: 'expected at least 0' },
      { path: 'evictionSoftGracePeriod[x]', value: undefined, rule: 'expected a grace period' },
      { path: 'a', value: 'x'.repeat(200), rule: 'expected less' },
    ])
    const lines = formatConfigError(config).split('\n')
    assert.deepEqual(lines.slice(0, 3), [
      'Cannot use the configuration:',
      '  maxPods: -1: expected at least 0',
      '  evictionSoftGracePeriod[x]: expected a grace period',
    ])
    assert.match(lines[3] ?? '', /^ {2}a: "x{119}…: expected less$/)
    assert.equal(
      formatConfigError(new FlagError(['unknown flag --x'])),
      'Cannot use the command line:\n  unknown flag --x',
    )
  })
})
