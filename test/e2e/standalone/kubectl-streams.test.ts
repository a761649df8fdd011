import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { BUSYBOX_IMAGE } from '../../../src/standalone/images/node-images.ts'
import { parseExposition } from '../../fixtures/parse-exposition.ts'
import type { ParsedFamily } from '../../fixtures/parse-exposition.ts'
import { parsePrometheus } from '../../fixtures/parse-prometheus.ts'
import { KubectlProcess } from '../support/kubectl-process.ts'
import type { KubectlProcessOptions } from '../support/kubectl-process.ts'
import { StandaloneNode } from '../support/standalone-node.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'

// No piece of it like another, so that one which is lost, doubled or moved changes the sum as well.
const LARGE_LOAD = randomBytes(200 * 1024 * 1024)
const LOAD = LARGE_LOAD.subarray(0, 20 * 1024 * 1024)
const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }
const PARALLEL = 100
const LINES = 400

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const numbers = (text: string) => [...text.matchAll(/line (\d+)$/gm)].map(([, number]) => Number(number))
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

// The network tools of busybox turn connections away when many come at once.
const ECHO = 'net.createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(8080)'
const volumeMounts = [{ name: 'host', mountPath: '/host', readOnly: true }]
const CONTAINERS = ['echo', 'listener', 'main', 'shell']

/** One pod with a container for each kind of question, and two that come to an end. */
const PODS = [
  testPod('web', {
    volumes: [{ name: 'host', hostPath: { path: '/' } }],
    containers: [
      testContainer('main', scripts.obedient),
      { ...testContainer('echo', ''), command: ['chroot', '/host', process.execPath, '-e', ECHO], volumeMounts },
      testContainer('listener', 'while read line; do echo got $line; done', { stdin: true }),
      testContainer('shell', 'exec sh', { stdin: true, tty: true }),
    ],
  }),
  testPod('talker', {
    restartPolicy: 'Never',
    containers: [
      testContainer('main', `i=0; while [ $i -lt ${LINES} ]; do i=$((i + 1)); echo line $i; usleep 7000; done`),
    ],
  }),
  testPod('twice', {
    volumes: [{ name: 'data', emptyDir: {} }],
    containers: [
      testContainer(
        'main',
        `if [ -e /data/been ]; then echo second life; ${scripts.obedient}; fi; touch /data/been; echo first life; exit 3`,
        { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
      ),
    ],
  }),
]

describe('kubectl reaches into containers', { concurrency: 3, timeout: 180_000 }, () => {
  let node: StandaloneNode
  let nodeName = ''
  /** The second part of the version of kubectl; Debian 12 has one from 2020. */
  let minor = 0
  before(async () => {
    node = await StandaloneNode.start()
    await node.apply(...PODS)
    nodeName = (await node.node()).metadata?.name ?? ''
    const version = JSON.parse(await node.kubectl('version', '--client', '-o', 'json')) as {
      clientVersion: { minor: string }
    }
    minor = Number.parseInt(version.clientVersion.minor)
  })
  after(async () => await node[Symbol.asyncDispose]())

  /** Runs kubectl with bytes as its input. */
  async function run(args: readonly string[], input: Uint8Array | string = '', options: KubectlProcessOptions = {}) {
    await using kubectl = new KubectlProcess(node, args, options)
    return await kubectl.end(input)
  }

  const raw = (path: string) => node.kubectl('get', '--raw', `/api/v1/nodes/${nodeName}/proxy${path}`)

  // It takes two samples of the pods, so it begins first.
  test('top reports what the node and its pods use', async () => {
    await node.ready('web')
    await node.waitFor('the usage of the pod', async () => {
      const usage = await node.get<{ readonly containers: readonly { readonly name: string }[] }>(
        '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/web',
      )
      return CONTAINERS.every((name) => usage?.containers.some((container) => container.name === name))
    })
    const lines = (await node.kubectl('top', 'pod', '--containers')).trimEnd().split('\n')
    for (const name of CONTAINERS)
      assert.ok(
        lines.some((line) => new RegExp(`^web +${name} +\\d+m +\\d+Mi`).test(line)),
        lines.join('\n'),
      )
    assert.match(await node.kubectl('top', 'node'), new RegExp(`^${nodeName} +\\d+m +\\d+% +[1-9]\\d*Mi +\\d+%`, 'm'))
  })

  test('logs: followed to the end of the pod, then the last lines, those since, with their times', async () => {
    await node.podIs('talker', 'there', ({ status }) => status?.phase !== 'Pending')
    const { code, stdout } = await run(['logs', '-f', 'talker'])
    assert.deepEqual([code, numbers(stdout.toString())], [0, upTo(LINES)])
    const pod = await node.podIs('talker', 'done', ({ status }) => status?.phase === 'Succeeded')
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 0)
    assert.deepEqual(numbers(await node.kubectl('logs', 'talker', '--tail=3')), upTo(LINES).slice(-3))
    assert.deepEqual(numbers(await node.kubectl('logs', 'talker', '--since=1h')), upTo(LINES))
    assert.equal(await node.kubectl('logs', 'talker', '--limit-bytes=10'), 'line 1\nlin')
    const stamped = (await node.kubectl('logs', 'talker', '--timestamps')).trimEnd().split('\n')
    assert.deepEqual(
      new Set(stamped.map((line) => line.replace(/\d/g, '9').replace(/9+$/, '9'))),
      new Set(['9999-99-99T99:99:99.999999999Z line 9']),
    )
    const since = `${(stamped[LINES / 2] ?? '').slice(0, 19)}Z`
    assert.equal(
      await node.kubectl('logs', 'talker', `--since-time=${since}`, '--timestamps'),
      stamped
        .filter((line) => line >= since.slice(0, 19))
        .map((line) => `${line}\n`)
        .join(''),
    )
  })

  test('logs of the instance before', async () => {
    await node.podIs('twice', 'in its second life', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1)
    await node.ready('twice')
    assert.equal(await node.kubectl('logs', 'twice', '--previous'), 'first life\n')
    assert.match(await node.kubectl('logs', 'twice'), /^second life\nstarted /)
  })

  test('exec over WebSocket: exit code, both outputs, and megabytes both ways', async () => {
    await node.ready('web')
    const failed = await run(['exec', 'web', '-c', 'main', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7'])
    assert.deepEqual([failed.code, failed.stdout.toString()], [7, 'out\n'])
    assert.match(failed.stderr, /^err\n/)
    const { code, stdout } = await run(['exec', '-i', 'web', '-c', 'main', '--', 'cat'], LARGE_LOAD)
    assert.deepEqual([code, stdout.length, hash(stdout)], [0, LARGE_LOAD.length, hash(LARGE_LOAD)])
  })

  test('exec over SPDY: exit code, and megabytes both ways', async () => {
    await node.ready('web')
    const exec = ['exec', '-i', 'web', '-c', 'main', '--', 'sh', '-c', 'cat; exit 7']
    const { code, stdout } = await run(exec, LOAD, { environment: SPDY })
    assert.deepEqual([code, stdout.length, hash(stdout)], [7, LOAD.length, hash(LOAD)])
  })

  test('exec ends with its command, also when that has not read all of its input', async () => {
    await node.ready('web')
    const command = ['exec', '-i', 'web', '-c', 'main', '--', 'head', '-c', '4']
    const { code, stdout } = await run(command, LOAD.subarray(0, 100_000))
    assert.deepEqual([code, stdout.toString('hex')], [0, LOAD.toString('hex', 0, 4)])
  })

  test('exec in a terminal, whose size is that of the terminal before it', async () => {
    await node.ready('web')
    const terminal = `${node.lab.folder}/terminal`
    const untilSize = (size: string) => `until [ "$(stty size)" = "${size}" ]; do usleep 20000; done; echo size ${size}`
    await writeFile(
      `${node.lab.folder}/watch-size.sh`,
      `${untilSize('33 77')}; ${untilSize('44 99')}; read answer; echo heard $answer; exit 5\n`,
    )
    await node.kubectl('cp', `${node.lab.folder}/watch-size.sh`, 'web:/tmp/watch-size.sh', '-c', 'main')
    const resize = `(until grep -q 'size 33 77' ${terminal}; do sleep 0.05; done; stty rows 44 cols 99 < /dev/tty) &`
    const exec = '$KUBECTL exec -it web -c main -- sh /tmp/watch-size.sh'
    await using shell = new KubectlProcess(node, ['stty rows 33 cols 77;', resize, exec], { terminal })
    await shell.output(/size 44 99/)
    shell.write('hello\r')
    await shell.output(/heard hello/)
    const { code } = await shell.end()
    assert.equal(code, 5)
  })

  test('cp copies files and folders in, and out again', async () => {
    await node.ready('web')
    const folder = `${node.lab.folder}/copied`
    await mkdir(`${folder}/in/deep`, { recursive: true })
    await writeFile(`${folder}/in/load`, LOAD)
    await writeFile(`${folder}/in/deep/note`, 'deep')
    await node.kubectl('cp', `${folder}/in`, 'web:/tmp/in', '-c', 'main')
    await Promise.all([
      node.kubectl('cp', 'web:/tmp/in', `${folder}/out`, '-c', 'main'),
      node.kubectl('cp', 'web:/tmp/in/load', `${folder}/load`, '-c', 'main'),
    ])
    assert.equal(hash(await readFile(`${folder}/load`)), hash(LOAD))
    assert.equal(hash(await readFile(`${folder}/out/load`)), hash(LOAD))
    assert.equal(await readFile(`${folder}/out/deep/note`, 'utf8'), 'deep')
  })

  test('port-forward carries many connections at once', async () => {
    await node.ready('web')
    await node.waitFor('the echo', async () => {
      return (await node.kubectl('exec', 'web', '-c', 'main', '--', 'netstat', '-ltn')).includes(':8080')
    })
    await using forward = new KubectlProcess(node, ['port-forward', 'pod/web', ':8080'])
    const [, port = ''] = /127\.0\.0\.1:(\d+) -> 8080/.exec(await forward.output(/127\.0\.0\.1:(\d+) -> 8080/)) ?? []
    const echoed = upTo(PARALLEL).map(async (number) => {
      const load = LOAD.subarray(number * 1000, number * 1000 + 100_000)
      const socket = node.lab.network.connect('127.0.0.1', Number(port))
      socket.write(load)
      const received = await readBytes(socket, load.length)
      socket.destroy()
      return hash(received) === hash(load)
    })
    assert.deepEqual(
      await Promise.all(echoed),
      upTo(PARALLEL).map(() => true),
    )
  })

  test('attach speaks with a container, and with its terminal', async () => {
    await node.ready('web')
    await using attached = new KubectlProcess(node, ['attach', '-i', 'web', '-c', 'listener'])
    attached.write('hello\n')
    await attached.output(/got hello\n/)
    const terminal = `${node.lab.folder}/attach`
    await using shell = new KubectlProcess(node, ['$KUBECTL attach -it web -c shell'], { terminal })
    shell.write('echo sum $((20 + 22))\r')
    await shell.output(/sum 42\r\n/)
  })

  test('debug puts a container into a running pod', async (t) => {
    if (minor < 25) return t.skip(`kubectl 1.${minor} asks for it in a way that is no more`)
    await node.ready('twice')
    const debug = ['debug', 'twice', `--image=${BUSYBOX_IMAGE}`, '-c', 'visitor', '--target=main', '--profile=general']
    await node.kubectl(...debug, '--', 'sh', '-c', 'echo visiting; cat /proc/1/cmdline')
    await node.podIs('twice', 'visited', ({ status }) => {
      return status?.ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode === 0
    })
    assert.match(await node.kubectl('logs', 'twice', '-c', 'visitor'), /^visiting\nsh\0-c\0/)
  })

  test('the endpoints of the kubelet, through the proxy of its node', async () => {
    const pod = await node.ready('web')
    assert.equal(await raw('/healthz'), 'ok')
    const { items } = JSON.parse(await raw('/pods')) as { items: { metadata: { name: string } }[] }
    assert.ok(items.some(({ metadata }) => metadata.name === 'web'))
    const { kubeletconfig } = JSON.parse(await raw('/configz')) as { kubeletconfig: { kind: string; port: number } }
    assert.equal(kubeletconfig.port, 10_250)
    const stats = await node.waitFor('the stats of the pod', async () => {
      const summary = JSON.parse(await raw('/stats/summary')) as {
        node: { nodeName: string }
        pods: { podRef: { uid: string }; containers: { name: string; memory: { workingSetBytes: number } }[] }[]
      }
      assert.equal(summary.node.nodeName, nodeName)
      return summary.pods.find(({ podRef }) => podRef.uid === pod.metadata.uid)
    })
    assert.deepEqual(stats.containers.map(({ name }) => name).toSorted(), CONTAINERS)
    assert.ok(stats.containers.every(({ memory }) => memory.workingSetBytes > 0))
    for (const path of ['/metrics', '/metrics/probes', '/metrics/slis'])
      assert.ok(parsePrometheus(await raw(path)).length > 0, path)
  })

  test('what metrics-server needs: every container has its stats, with their times', async () => {
    const pod = await node.ready('web')
    const families = parseExposition(await raw('/metrics/resource'))
    for (const name of ['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes']) {
      const samples = samplesOf(families, name, pod.metadata.name)
      assert.deepEqual(new Set(samples.map(({ labels }) => labels['container'])), new Set(CONTAINERS))
      assert.ok(samples.every(({ value, time }) => value > 0 && time !== undefined))
    }
    assert.equal(samplesOf(families, 'container_start_time_seconds', pod.metadata.name).length, CONTAINERS.length)
    for (const name of ['node_cpu_usage_seconds_total', 'node_memory_working_set_bytes']) {
      const [sample] = families.find((family) => family.name === name)?.samples ?? []
      assert.ok(sample !== undefined && sample.value > 0 && sample.time !== undefined, name)
    }
    const usage = samplesOf(parseExposition(await raw('/metrics/cadvisor')), 'container_memory_usage_bytes', 'web')
    assert.ok(CONTAINERS.every((name) => usage.some(({ labels }) => labels['container'] === name)))
  })
})

async function readBytes(socket: Socket, length: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer)
    if (chunks.reduce((sum, each) => sum + each.length, 0) >= length) break
  }
  return Buffer.concat(chunks)
}

function samplesOf(families: readonly ParsedFamily[], name: string, pod: string) {
  return families.find((family) => family.name === name)?.samples.filter(({ labels }) => labels['pod'] === pod) ?? []
}
