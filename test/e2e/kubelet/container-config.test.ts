import assert from 'node:assert/strict'
import { mkdir, readlink, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { readMachine } from '../../../src/system/machine/read-machine.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { BUSYBOX_IMAGE } from '../../../src/standalone/images/node-images.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { dockerFiles } from '../../../src/system/directories/docker-files.ts'
import { TestNode } from '../support/test-node.ts'

const ASKED_MEMORY = 64n * 1024n ** 2n
const CONFIG = {
  allowedUnsafeSysctls: ['kernel.msg*'],
  clusterDNS: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
}

// Each line is "<name>=<what the container itself sees>".
const REPORT = `
say() { echo "$1=$2"; }
status() { sed -n "s/^$1:[[:space:]]*//p" /proc/self/status; }
first() { cat "$@" 2> /dev/null; }
say uid "$(id -u)"; say gid "$(id -g)"; say groups "$(id -G)"
say pwd "$(pwd)"; say hostname "$(hostname)"; say args "$0 $*"
say bounding "$(status CapBnd)"; say noNewPrivs "$(status NoNewPrivs)"; say seccomp "$(status Seccomp)"
say rootfs "$(touch /x 2> /dev/null && echo writable || echo read-only)"
say resolver "$(tr '\\n' ' ' < /etc/resolv.conf)"
say hosts "$(sed -n '/HostAliases/,$p' /etc/hosts | tail -n +2 | tr '\\t\\n' ' ;')"
say self "$(grep front /etc/hosts | cut -f 2- | tr '\\t' ' ')"
say environment "$(tr '\\0' '\\n' < /proc/$$/environ | grep -E '^(FIRST|SECOND|FOURTH|NAME|NODE|LABEL|CPU|MEMORY|SIDE)=' | tr '\\n' ' ')"
say rmid "$(cat /proc/sys/kernel/shm_rmid_forced)"; say msgmax "$(cat /proc/sys/kernel/msgmax)"
say ports "$(tr '\\t' ' ' < /proc/sys/net/ipv4/ip_local_port_range)"
say memory "$(first /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max)"
say cpu "$(echo $(first /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu/cpu.cfs_period_us || first /sys/fs/cgroup/cpu.max))"
say oom "$(cat /proc/self/oom_score_adj)"
say first "$(tr '\\0' ' ' < /proc/1/cmdline)"
say kcore "$(wc -c < /proc/kcore 2> /dev/null || echo unreadable)"
`

describe('a container itself sees what its spec says', { concurrency: true }, () => {
  let node: TestNode
  before(async () => {
    node = await TestNode.start({ config: CONFIG, flags: ['--node-ip=10.88.0.1'] })
    await mkdir(`${node.agent.rootDir}/seccomp`)
    const rule = { names: ['chmod', 'fchmodat', 'fchmodat2'], action: 'SCMP_ACT_ERRNO' }
    const profile = { defaultAction: 'SCMP_ACT_ALLOW', syscalls: [rule] }
    await writeFile(`${node.agent.rootDir}/seccomp/no-chmod.json`, JSON.stringify(profile))
  })
  after(() => node[Symbol.asyncDispose]())

  /** What a container printed as name=value, once it is done. */
  async function report(pod: Pod, container = 'main'): Promise<Readonly<Record<string, string>>> {
    const lines = await node.waitFor(`the report of ${container}`, async () => {
      const found = (await node.logLines(pod, container).catch(() => [])).map(({ text }) => text.trimEnd())
      return found.some((text) => text.startsWith('started')) && found
    })
    return Object.fromEntries(
      lines.flatMap((line) => {
        const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? []
        return name === undefined || value === undefined ? [] : [[name, value.trim()]]
      }),
    )
  }

  async function run(name: string, spec: Parameters<typeof testPod>[1], metadata = {}): Promise<Pod> {
    await node.lab.manifests.write(name, testPod(name, spec, metadata))
    return await node.ready(name)
  }

  test('users, groups, privileges, names, environment, sysctls and limits', async () => {
    const main = testContainer('main', '', {
      command: ['sh', '-c', `${REPORT}${scripts.obedient}`, '$(FIRST)'],
      args: ['$(SECOND)', '$$(FIRST)', '$(NOBODY)'],
      workingDir: '/etc',
      env: [
        { name: 'SECOND', value: 'b' },
        { name: 'FIRST', value: 'a $(SECOND)' },
        { name: 'FOURTH', value: '$(LATER)' },
        { name: 'LATER', value: 'x' },
        { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'LABEL', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
        { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
        { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'requests.memory', divisor: '1Mi' } } },
        {
          name: 'SIDE',
          valueFrom: { resourceFieldRef: { containerName: 'other', resource: 'limits.memory', divisor: '1Ki' } },
        },
      ],
      resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } },
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'KILL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      },
    })
    const other = testContainer('other', `${REPORT}${scripts.obedient}`, {
      tty: true,
      stdin: true,
      resources: { limits: { memory: '96Mi' } },
      securityContext: { runAsUser: 0, runAsGroup: 0, seccompProfile: { type: 'Unconfined' } },
    })
    const pod = await run(
      'facts',
      {
        hostname: 'front',
        subdomain: 'web',
        setHostnameAsFQDN: true,
        hostAliases: [{ ip: '10.9.8.7', hostnames: ['db', 'db.example'] }],
        dnsPolicy: 'ClusterFirst',
        dnsConfig: { searches: ['example.org'], options: [{ name: 'timeout', value: '3' }] },
        shareProcessNamespace: true,
        securityContext: {
          runAsUser: 1000,
          runAsGroup: 3000,
          runAsNonRoot: false,
          fsGroup: 2000,
          supplementalGroups: [4000],
          sysctls: [
            { name: 'kernel.shm_rmid_forced', value: '1' },
            { name: 'net/ipv4/ip_local_port_range', value: '20000 21000' },
            { name: 'kernel.msgmax', value: '16384' },
          ],
        },
        containers: [main, other],
      },
      { labels: { app: 'shop' } },
    )
    const { oom, ...seen } = await report(pod)
    assert.deepEqual(seen, {
      uid: '1000',
      gid: '3000',
      groups: '3000 2000 4000',
      pwd: '/etc',
      hostname: 'front.web.default.svc.cluster.local',
      args: 'a b b $(FIRST) $(NOBODY)',
      // KILL is 5, NET_BIND_SERVICE is 10.
      bounding: '0000000000000420',
      noNewPrivs: '1',
      seccomp: '2',
      rootfs: 'read-only',
      resolver:
        'search default.svc.cluster.local svc.cluster.local cluster.local example.org nameserver 10.96.0.10 options ndots:5 timeout:3',
      hosts: '10.9.8.7 db db.example;',
      self: 'front.web.default.svc.cluster.local front',
      environment: 'SECOND=b FIRST=a b FOURTH=$(LATER) NAME=facts-lab LABEL=shop CPU=500 MEMORY=64 SIDE=98304',
      rmid: '1',
      msgmax: '16384',
      ports: '20000 21000',
      memory: `${128 * 1024 ** 2}`,
      cpu: '50000 100000',
      // The first process is that of the sandbox, which both containers share.
      first: '/pause -P',
      kcore: 'unreadable',
    })
    const expected = 1000n - (1000n * ASKED_MEMORY) / readMachine().memoryBytes
    assert.equal(oom, `${expected > 999n ? 999n : expected}`)

    const second = await report(pod, 'other')
    assert.deepEqual(
      [second['uid'], second['gid'], second['groups'], second['noNewPrivs'], second['seccomp'], second['rootfs']],
      ['0', '0', '0 2000 4000', '0', '0', 'writable'],
    )
    assert.equal(second['memory'], `${96 * 1024 ** 2}`)
  })

  test('namespaces of the node, and an environment of its own addresses', async () => {
    const namespaces = ['net', 'pid', 'ipc', 'uts', 'mnt']
    const links = namespaces.map((name) => `echo "${name}=$(readlink /proc/self/ns/${name})"`).join('; ')
    const variable = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } })
    const env = [variable('POD', 'status.podIP'), variable('HOST', 'status.hostIP'), variable('NODE', 'spec.nodeName')]
    const addresses = 'echo "addresses=$POD $HOST $NODE"'
    const containers = [testContainer('main', `${links}; ${addresses}; ${scripts.obedient}`, { env })]
    const [host, own] = await Promise.all([
      run('host', { hostNetwork: true, hostPID: true, hostIPC: true, containers }),
      run('own', { containers }),
    ])
    const [ofNode, inHost, inOwn] = await Promise.all([
      Promise.all(namespaces.map((name) => readlink(`/proc/${node.agent.pid}/ns/${name}`))),
      report(host),
      report(own),
    ])
    assert.deepEqual(
      namespaces.map((name, index) => [name, inHost[name] === ofNode[index], inOwn[name] === ofNode[index]]),
      [
        ['net', true, false],
        ['pid', true, false],
        ['ipc', true, false],
        // The names of the node go with its network.
        ['uts', true, false],
        ['mnt', false, false],
      ],
    )
    const { podIP, hostIP } = own.status ?? {}
    assert.equal(inOwn['addresses'], `${podIP} ${hostIP} lab`)
    assert.equal(inHost['addresses'], `${hostIP} ${hostIP} lab`)
  })

  test('a seccomp profile of the node, privileges, and a port of the node', async () => {
    const chmod = 'touch /f; echo "chmod=$(chmod 700 /f 2> /dev/null && echo done || echo denied)"'
    const bounding = 'echo "bounding=$(sed -n "s/^CapBnd:[[:space:]]*//p" /proc/self/status)"'
    const serve = 'mkdir /www; echo welcome > /www/index.html; httpd -p 80 -h /www'
    const localhostProfile = 'no-chmod.json'
    // Docker gives a privileged container every capability of the kernel, containerd those that it has itself: a machine may lack some.
    const hasPrivileged = node.lab.runtime.name !== 'docker' || dockerFiles.leastOomScore() === -1000
    const pod = await run('special', {
      containers: [
        testContainer('confined', `${chmod}; ${scripts.obedient}`, {
          securityContext: { seccompProfile: { type: 'Localhost', localhostProfile } },
        }),
        ...(hasPrivileged
          ? [
              testContainer('privileged', `${chmod}; ${bounding}; ${scripts.obedient}`, {
                securityContext: { privileged: true },
              }),
            ]
          : []),
        testContainer('server', `${serve}; ${scripts.obedient}`, { ports: [{ containerPort: 80, hostPort: 8090 }] }),
      ],
    })
    assert.equal((await report(pod, 'confined'))['chmod'], 'denied')
    if (hasPrivileged) {
      const { chmod: changed, bounding: all = '0' } = await report(pod, 'privileged')
      assert.equal(changed, 'done')
      // SYS_ADMIN is 21.
      assert.ok((BigInt(`0x${all}`) & (1n << 21n)) !== 0n, all)
    }
    await report(pod, 'server')
    const page = await node.lab.network.get('http://10.88.0.1:8090/')
    assert.deepEqual([page.status, page.body], [200, 'welcome\n'])
  })

  test('termination messages: from a file, from another file, from the log, truncated', async () => {
    const ends = (name: string, script: string, fields = {}) => testContainer(name, script, fields)
    const fallback = { terminationMessagePolicy: 'FallbackToLogsOnError' }
    const containers = [
      ends('file', 'echo -n bye > /dev/termination-log; exit 3'),
      ends('place', 'echo -n bye > /tmp/last; exit 3', { terminationMessagePath: '/tmp/last' }),
      ends('printed', 'echo said; exit 3', fallback),
      ends('both', 'echo said; echo -n bye > /dev/termination-log; exit 3', fallback),
      ends('content', 'echo said; exit 0', fallback),
      ends('wordless', 'echo said; exit 3'),
      ends('long', 'head -c 9000 /dev/zero | tr "\\0" x > /dev/termination-log; exit 3'),
    ]
    await node.lab.manifests.write('ends', testPod('ends', { containers, restartPolicy: 'Never' }))
    const pod = await node.podIs('ends', 'Failed', ({ status }) => status?.phase === 'Failed')
    const words = pod.status?.containerStatuses?.map(({ name, state }) => [name, state?.terminated?.message ?? ''])
    const { long = '', ...short } = Object.fromEntries(words ?? []) as Record<string, string>
    assert.deepEqual(short, { file: 'bye', place: 'bye', printed: 'said\n', both: 'bye', content: '', wordless: '' })
    // All containers of a pod share 12 KiB.
    assert.ok(/^x+$/.test(long) && long.length <= 4096 && long.length > 1000, `${long.length}`)
  })

  test('what cannot be given keeps a container waiting, with the reason', async () => {
    const securityContext = { seccompProfile: { type: 'Localhost', localhostProfile: 'none.json' } }
    const containers = [
      testContainer('profile', scripts.obedient, { securityContext }),
      testContainer('root', scripts.obedient, { securityContext: { runAsNonRoot: true } }),
    ]
    await node.lab.manifests.write('waits', testPod('waits', { containers }))
    const isWaiting = ({ status }: Pod) =>
      status?.containerStatuses?.filter(({ state }) => (state?.waiting?.message ?? '') !== '').length === 2
    const pod = await node.podIs('waits', 'waiting for both containers', isWaiting)
    const waiting = Object.fromEntries(
      (pod.status?.containerStatuses ?? []).map(({ name, state }) => [name, state?.waiting]),
    )
    assert.equal(waiting['profile']?.reason, 'CreateContainerError')
    assert.match(waiting['profile'].message ?? '', /seccomp\/none\.json.*no such file/)
    assert.equal(waiting['root']?.reason, 'CreateContainerConfigError')
    assert.match(waiting['root'].message ?? '', /^container has runAsNonRoot and image will run as root/)
  })

  test('what this runtime cannot do is rejected, before anything is created', async () => {
    const sysctls = [{ name: 'kernel.sem', value: '1 1 1 1' }]
    const image = { reference: BUSYBOX_IMAGE, pullPolicy: 'Never' }
    // test/runtimes has these on runtimes that can do them.
    const { supplementalGroupsPolicy, handlers, imageVolumes } = await node.features()
    const rows = {
      sysctl: { securityContext: { sysctls } },
      ...(supplementalGroupsPolicy ? {} : { strict: { securityContext: { supplementalGroupsPolicy: 'Strict' } } }),
      ...(handlers.get('')?.userNamespaces === true ? {} : { users: { hostUsers: false } }),
      ...(imageVolumes === 'none' ? { image: { volumes: [{ name: 'data', image }] } } : {}),
    }
    await Promise.all(Object.entries(rows).map(([name, spec]) => node.lab.manifests.write(name, testPod(name, spec))))
    const outcomes = await Promise.all(
      Object.keys(rows).map(async (name) => {
        const { status } = await node.podIs(name, 'Failed', (pod) => pod.status?.phase === 'Failed')
        await node.logged('"event"', `default/${name}-lab`, `reason="${status?.reason}"`)
        assert.deepEqual(await node.containers(name), [])
        return [name, `${status?.reason}: ${status?.message}`]
      }),
    )
    const rejected = 'Pod was rejected:'
    const expected = {
      sysctl: `SysctlForbidden: ${rejected} forbidden sysctl: "kernel.sem" not allowlisted`,
      strict: `SupplementalGroupsPolicyNotSupported: ${rejected} SupplementalGroupsPolicy=Strict is not supported in this node`,
      users: `UnsupportedField: ${rejected} spec.hostUsers: the container runtime does not support user namespaces; containerd does from 2.0 on, CRI-O from 1.25 on, Docker has none for single pods`,
      image: `UnsupportedField: ${rejected} spec.volumes[0].image: the container runtime cannot mount images; containerd can from 2.1 on, CRI-O from 1.31 on, Docker cannot`,
    }
    assert.deepEqual(
      Object.fromEntries(outcomes),
      Object.fromEntries(Object.entries(expected).filter(([name]) => name in rows)),
    )
  })
})
