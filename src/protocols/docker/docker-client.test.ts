import assert from 'node:assert/strict'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeDocker } from '../../../test/fakes/fake-docker.ts'
import type { DockerAnswer, DockerCall } from '../../../test/fakes/fake-docker.ts'
import { until } from '../../../test/fakes/until.ts'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { dockerFiles } from '../../system/directories/docker-files.ts'
import type { DockerFiles } from '../../system/directories/docker-files.ts'
import { CgroupDriver, SecurityProfile_ProfileType } from '../cri/generated/runtime-v1.ts'
import { createDockerClient } from './docker-client.ts'
import type { DockerClientOptions } from './docker-client.ts'

const { signal } = new AbortController()
const files: DockerFiles = {
  linkLog: async () => {},
  unlinkLog: async () => {},
  writeInPlace: async () => {},
  readText: async () => '',
  listProcesses: async () => [],
  killInContainer: async () => {},
  openDialer: () => assert.fail('no ports here'),
  findNetworkNamespace: async () => '',
  leastOomScore: () => -1000,
}
const NEVER = '0001-01-01T00:00:00Z'
const HOLDER = 'a'.repeat(64)
const sandbox = { metadata: { name: 'web', namespace: 'shop', uid: 'u', attempt: 1 } }

async function setUp(
  t: TestContext,
  answer: (call: DockerCall) => DockerAnswer = () => undefined,
  more: Partial<DockerClientOptions> = {},
) {
  const docker = await FakeDocker.start()
  docker.answer = answer
  const clock = new FakeClock()
  const client = createDockerClient({
    runtimeEndpoint: `unix://${docker.socket}`,
    requestTimeoutMs: 120_000,
    pauseImages: ['pause:1'],
    logLimits: { maxSizeBytes: -1, maxFiles: 1 },
    clock,
    log: silentLogger,
    files,
    ...more,
  })
  t.after(async () => {
    client.close()
    await docker[Symbol.asyncDispose]()
  })
  return { docker, client, clock }
}

/** What Docker says of a sandbox or container that runs. */
function running(type: 'podsandbox' | 'container', id: string) {
  const state = { Status: 'running', Running: true, OOMKilled: false, Pid: 7, ExitCode: 0, Error: '' }
  return {
    Id: id,
    Name: type === 'podsandbox' ? '/k8s_POD_web_shop_u_1' : '/k8s_main_web_shop_u_0',
    Created: '2026-01-01T00:00:00Z',
    Image: `sha256:${'1'.repeat(64)}`,
    State: { ...state, StartedAt: '2026-01-01T00:00:01Z', FinishedAt: NEVER },
    Config: { Image: 'busybox', Labels: { 'io.kubernetes.docker.type': type } },
    HostConfig: { NetworkMode: 'default', Runtime: 'runc' },
  }
}

describe('the version of the API', () => {
  for (const [theirs, used] of [
    ['1.41', '1.41'],
    ['1.44', '1.44'],
    ['1.52', '1.52'],
    ['1.60', '1.52'],
  ] as const)
    test(`is ${used} with a Docker that has ${theirs}`, async (t) => {
      const { docker, client } = await setUp(t)
      docker.apiVersion = theirs
      await client.version({}, signal)
      assert.deepEqual([...new Set(docker.calls.slice(1).map(({ version }) => version))], [used])
    })

  test('is chosen again when Docker is replaced by one that takes the old version no more', async (t) => {
    const { docker, client } = await setUp(t)
    await client.version({}, signal)
    Object.assign(docker, { apiVersion: '1.52', oldestApi: '1.44' })
    await assert.rejects(client.status({}, signal), /client version 1\.41 is too old/)
    await client.status({}, signal)
    assert.equal(docker.calls.at(-1)?.version, '1.52')
  })

  test('that is too old is refused, with what is expected', async (t) => {
    const { docker, client } = await setUp(t)
    docker.apiVersion = '1.40'
    await assert.rejects(client.version({}, signal), /API has version 1\.40, expected at least 1\.41/)
  })
})

describe('a Docker that cannot be used', () => {
  test('says why: no socket, nothing that listens on it', async (t) => {
    const { docker, client } = await setUp(t)
    await docker[Symbol.asyncDispose]()
    docker[Symbol.asyncDispose] = async () => {}
    await rm(docker.socket, { force: true })
    const missing = { code: 'Unavailable', detail: /there is no such socket/ }
    await assert.rejects(client.status({}, signal), missing)
    await writeFile(docker.socket, '')
    await assert.rejects(client.status({}, signal), { code: 'Unavailable', detail: /does not listen on/ })
    assert.equal(client.connection.connected, false)
  })

  for (const [option, words] of [
    ['name=userns', /with userns-remap/],
    ['name=rootless', /without root/],
  ] as const)
    test(`is one with ${option}`, async (t) => {
      const { docker, client } = await setUp(t)
      docker.info = { SecurityOptions: ['name=seccomp,profile=default', option] }
      await assert.rejects(client.version({}, signal), { code: 'FailedPrecondition', detail: words })
    })

  test('holds up a call no longer than its deadline, and no other call', async (t) => {
    const hangs = ({ path }: DockerCall): DockerAnswer => (path === `/containers/${HOLDER}/json` ? 'hang' : undefined)
    const { docker, client, clock } = await setUp(t, hangs)
    const stuck = client.containerStatus({ containerId: HOLDER }, signal)
    const failed = assert.rejects(stuck, { code: 'DeadlineExceeded' })
    await until(() => docker.calls.some(({ path }) => path.includes(HOLDER)))
    assert.deepEqual(await client.listContainers({}, signal), { containers: [] })
    await clock.advance(120_000)
    await failed
  })
})

describe('the port of a sandbox at Docker’s bridge', () => {
  const ID = 'b'.repeat(64)
  const answerWith =
    (network: string) =>
    ({ method, path }: DockerCall): DockerAnswer => {
      if (path === '/containers/create') return { status: 201, body: { Id: ID } }
      const found = { ...running('podsandbox', ID), HostConfig: { NetworkMode: network, Runtime: 'runc' } }
      return method === 'GET' && path === `/containers/${ID}/json` ? { status: 200, body: found } : undefined
    }
  const inNamespace = { ...files, findNetworkNamespace: async (pid: number) => `/proc/${pid}/ns/net` }
  const setUpPorts = async (t: TestContext, network: string, allow: () => void = () => {}) => {
    const set: number[] = []
    const allowHairpin = async (pid: number) => {
      set.push(pid)
      allow()
    }
    return { set, ...(await setUp(t, answerWith(network), { ports: { allowHairpin }, files: inNamespace })) }
  }

  for (const network of ['default', 'bridge'])
    test(`is set once, with the network ${network}`, async (t) => {
      const { client, set } = await setUpPorts(t, network)
      await client.runPodSandbox({ config: sandbox }, signal)
      assert.deepEqual(set, [7])
      await client.podSandboxStatus({ podSandboxId: ID }, signal)
      assert.deepEqual(set, [7])
    })

  test('is set when a sandbox of an earlier agent is seen', async (t) => {
    const { client, set } = await setUpPorts(t, 'default')
    for (let times = 0; times < 2; times += 1) await client.podSandboxStatus({ podSandboxId: ID }, signal)
    assert.deepEqual(set, [7])
  })

  for (const network of ['host', 'none'])
    test(`is not looked for with the network ${network}`, async (t) => {
      const { client, set } = await setUpPorts(t, network)
      await client.runPodSandbox({ config: sandbox }, signal)
      assert.deepEqual(set, [])
    })

  test('that cannot be set is no reason for a pod not to start', async (t) => {
    const { client, set } = await setUpPorts(t, 'default', () => assert.fail('no such device'))
    assert.deepEqual(await client.runPodSandbox({ config: sandbox }, signal), { podSandboxId: ID })
    assert.deepEqual(set, [7])
  })
})

describe('cgroups', () => {
  const path = '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod11_22.slice'
  const inspects = ({ path: asked }: DockerCall): DockerAnswer =>
    asked === `/containers/${HOLDER}/json` ? { status: 200, body: running('podsandbox', HOLDER) } : undefined

  for (const [driver, version, expected, parent] of [
    ['systemd', '2', CgroupDriver.SYSTEMD, 'kubepods-burstable-pod11_22.slice'],
    ['systemd', '1', CgroupDriver.SYSTEMD, 'kubepods-burstable-pod11_22.slice'],
    ['cgroupfs', '2', CgroupDriver.CGROUPFS, path],
    ['', '1', CgroupDriver.CGROUPFS, path],
  ] as const)
    test(`are named as Docker with the driver "${driver}" and version ${version} wants them`, async (t) => {
      const { docker, client } = await setUp(t, inspects)
      docker.info = { CgroupDriver: driver, CgroupVersion: version }
      assert.equal((await client.runtimeConfig({}, signal)).linux?.cgroupDriver, expected)
      const sandboxConfig = { ...sandbox, linux: { cgroupParent: path } }
      await client.runPodSandbox({ config: sandboxConfig }, signal)
      const config = { metadata: { name: 'main', attempt: 0 }, image: { image: 'busybox' } }
      await client.createContainer({ podSandboxId: HOLDER, config, sandboxConfig }, signal)
      const created = docker.bodies('/containers/create') as {
        readonly HostConfig: { readonly CgroupParent: string }
      }[]
      assert.deepEqual(
        created.map(({ HostConfig: { CgroupParent: sent } }) => sent),
        [parent, parent],
      )
    })
})

describe('a name that Docker holds already', () => {
  const conflict = {
    status: 409,
    body: {
      message: `Conflict. The container name "/k8s_POD_web_shop_u_1" is already in use by container "${HOLDER}". You have to remove (or rename) that container to be able to reuse that name.`,
    },
  }
  const isPlain = ({ path, query }: DockerCall) =>
    path === '/containers/create' && query.get('name') === 'k8s_POD_web_shop_u_1'

  test('is that of an earlier try: the caller observes again, and nothing is removed', async (t) => {
    const { docker, client } = await setUp(t, (call) => {
      if (isPlain(call)) return conflict
      return call.path === `/containers/${HOLDER}/json`
        ? { status: 200, body: running('podsandbox', HOLDER) }
        : undefined
    })
    await assert.rejects(client.runPodSandbox({ config: sandbox }, signal), /is reserved for "a{64}"/)
    assert.deepEqual(
      docker.calls.filter(({ method }) => method === 'DELETE'),
      [],
    )
  })

  test('for a container that is not there gets a suffix', async (t) => {
    const { client } = await setUp(t, (call) => (isPlain(call) ? conflict : undefined))
    const { podSandboxId } = await client.runPodSandbox({ config: sandbox }, signal)
    assert.match(podSandboxId, /^id-of-k8s_POD_web_shop_u_1_[0-9a-f]{8}$/)
  })
})

describe('the end of a container', () => {
  const inspects = ({ method, path }: DockerCall): DockerAnswer =>
    method === 'GET' && path === `/containers/${HOLDER}/json`
      ? { status: 200, body: running('container', HOLDER) }
      : undefined

  test('that Docker is at already is no failure', async (t) => {
    const message = `removal of container ${HOLDER} is already in progress`
    const { client } = await setUp(t, (call) =>
      call.method === 'DELETE' ? { status: 409, body: { message } } : inspects(call),
    )
    assert.deepEqual(await client.removeContainer({ containerId: HOLDER }, signal), {})
  })

  test('that the kernel does not let happen is one, with the words of Docker', async (t) => {
    const message = 'tried to kill container, but did not receive an exit event'
    const { client } = await setUp(t, (call) =>
      call.path.endsWith('/stop') ? { status: 500, body: { message } } : inspects(call),
    )
    await assert.rejects(client.stopContainer({ containerId: HOLDER, timeout: 0n }, signal), { detail: message })
  })

  test('comes with the grace period of the pod, and takes the volumes of the image along', async (t) => {
    const { docker, client } = await setUp(t, inspects)
    await client.stopContainer({ containerId: HOLDER, timeout: 30n }, signal)
    await client.removeContainer({ containerId: HOLDER }, signal)
    const sent = docker.calls.filter(({ method }) => method !== 'GET')
    assert.deepEqual(
      sent.map(({ method, path, query }) => `${method} ${path}?${query.toString()}`),
      [`POST /containers/${HOLDER}/stop?t=30`, `DELETE /containers/${HOLDER}?v=1&force=1`],
    )
  })

  for (const [about, started, left] of [
    ['never started leaves none: its number is used again', false, []],
    ['ran leaves the link, by which restarts are counted', true, ['0.log']],
  ] as const)
    test(`takes its log along: one that ${about}`, async (t) => {
      const logs = join(makeTemporaryFolder(), 'main')
      const path = join(logs, '0.log')
      const made = running('container', HOLDER)
      const labels = { ...made.Config.Labels, 'io.kubernetes.container.logpath': path }
      const created = { Status: 'created', Running: false, StartedAt: NEVER, FinishedAt: NEVER }
      let state = { ...made.State, ...created }
      const { client } = await setUp(
        t,
        (call) => {
          if (call.path.endsWith('/start')) {
            if (!started) return { status: 500, body: { message: 'the agent died before Docker got it' } }
            state = { ...made.State, Status: 'exited', Running: false, FinishedAt: made.State.StartedAt }
          }
          return inspects(call) && { status: 200, body: { ...made, State: state, Config: { Labels: labels } } }
        },
        { files: dockerFiles },
      )
      await client.startContainer({ containerId: HOLDER }, signal).catch(() => {})
      assert.deepEqual(await readdir(logs), ['0.log'])
      await client.removeContainer({ containerId: HOLDER }, signal)
      assert.deepEqual(await readdir(logs), left)
    })
})

test('a seccomp profile has to be a whole path', async (t) => {
  const { client } = await setUp(t, ({ path }) =>
    path === `/containers/${HOLDER}/json` ? { status: 200, body: running('podsandbox', HOLDER) } : undefined,
  )
  const seccomp = { profileType: SecurityProfile_ProfileType.Localhost, localhostRef: 'profiles/a.json' }
  const config = {
    metadata: { name: 'main', attempt: 0 },
    image: { image: 'busybox' },
    linux: { securityContext: { seccomp } },
  }
  const made = client.createContainer({ podSandboxId: HOLDER, config, sandboxConfig: sandbox }, signal)
  await assert.rejects(made, { code: 'InvalidArgument', detail: /expected an absolute path/ })
})

describe('a sandbox', () => {
  test('that cannot be started is removed, and the words of Docker are the reason', async (t) => {
    const message =
      'driver failed programming external connectivity on endpoint: Bind for 0.0.0.0:80 failed: port is already allocated'
    const { docker, client } = await setUp(t, ({ method, path }) => {
      if (path.endsWith('/start')) return { status: 500, body: { message } }
      return method === 'GET' && path.startsWith('/containers/id-of')
        ? { status: 200, body: running('podsandbox', 'id-of-k8s_POD_web_shop_u_1') }
        : undefined
    })
    await assert.rejects(client.runPodSandbox({ config: sandbox }, signal), { detail: message })
    assert.deepEqual(
      docker.calls.filter(({ method }) => method === 'DELETE').map(({ path }) => path),
      ['/containers/id-of-k8s_POD_web_shop_u_1'],
    )
  })

  test('has its image pulled where Docker has none', async (t) => {
    const { docker, client } = await setUp(t, ({ path }) => {
      if (path === '/images/create')
        return { status: 200, body: { status: 'Status: Downloaded newer image for pause:1' } }
      return path.startsWith('/images/') ? { status: 404, body: { message: 'No such image: pause:1' } } : undefined
    })
    await client.runPodSandbox({ config: sandbox }, signal)
    const pull = docker.calls.find(({ path }) => path === '/images/create')
    assert.deepEqual([pull?.query.get('fromImage'), pull?.query.get('tag')], ['pause', '1'])
    assert.equal(userOf(pull), undefined)
  })

  test('has its image pulled with the logins of the node, one after the other until one is taken', async (t) => {
    const logins = ['wrong', 'right', 'other'].map((username) => ({ username, password: 'p' }))
    const sandboxLogins = async (image: string) => (image === 'pause:1' ? logins : [])
    const { docker, client } = await setUp(
      t,
      (call) => {
        const denied = { errorDetail: { message: 'unauthorized' } }
        if (call.path === '/images/create') return { status: 200, body: userOf(call) === 'right' ? {} : denied }
        return call.path.startsWith('/images/') ? { status: 404, body: { message: 'No such image' } } : undefined
      },
      { sandboxLogins },
    )
    await client.runPodSandbox({ config: sandbox }, signal)
    const pulls = docker.calls.filter(({ path }) => path === '/images/create')
    assert.deepEqual(
      pulls.map((pull) => userOf(pull)),
      ['wrong', 'right'],
    )
  })
})

function userOf(pull: DockerCall | undefined): unknown {
  const header = String(pull?.headers['x-registry-auth'])
  return (JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly username?: string }).username
}

describe('images', () => {
  const image = {
    Id: `sha256:${'2'.repeat(64)}`,
    RepoTags: ['example.test/web:1', 'example.test/web:2'],
    RepoDigests: [`example.test/web@sha256:${'3'.repeat(64)}`],
  }
  const inspects = ({ method, path }: DockerCall): DockerAnswer =>
    method === 'GET' && path.startsWith('/images/') ? { status: 200, body: image } : undefined

  test('go with all of their names', async (t) => {
    const { docker, client } = await setUp(t, inspects)
    await client.removeImage({ image: { image: image.Id } }, signal)
    assert.deepEqual(
      docker.calls.filter(({ method }) => method === 'DELETE').map(({ path }) => decodeURIComponent(path)),
      [...image.RepoTags, ...image.RepoDigests, image.Id].map((name) => `/images/${name}`),
    )
  })

  test('that are in use stay, with the words of Docker', async (t) => {
    const message = 'conflict: unable to remove repository reference "web:1" (must force) - container 1 is using it'
    const { client } = await setUp(t, (call) =>
      call.method === 'DELETE' ? { status: 409, body: { message } } : inspects(call),
    )
    await assert.rejects(client.removeImage({ image: { image: 'example.test/web:1' } }, signal), { detail: message })
  })
})

describe('what a container uses', () => {
  const list = [
    {
      Id: HOLDER,
      Names: ['/k8s_main_web_shop_u_0'],
      Image: 'busybox',
      ImageID: 'sha256:1',
      Created: 1,
      State: 'running',
      Labels: { 'io.kubernetes.docker.type': 'container', 'io.kubernetes.sandbox.id': 's' },
      SizeRw: 4096,
    },
  ]
  for (const [about, counter] of [
    ['1', 'total_inactive_file'],
    ['2', 'inactive_file'],
  ] as const)
    test(`is without what the kernel can drop, with cgroups of version ${about}`, async (t) => {
      const stats = {
        cpu_stats: { cpu_usage: { total_usage: 5 } },
        memory_stats: { usage: 1000, stats: { [counter]: 300 } },
      }
      const { client } = await setUp(t, ({ path }) => {
        if (path === '/containers/json') return { status: 200, body: list }
        return path.endsWith('/stats') ? { status: 200, body: stats } : undefined
      })
      const { stats: found } = await client.containerStats({ containerId: HOLDER }, signal)
      assert.deepEqual(
        [found?.cpu?.usageCoreNanoSeconds, found?.memory?.workingSetBytes, found?.writableLayer?.usedBytes].map(
          (value) => value?.value,
        ),
        [5n, 700n, 4096n],
      )
    })
})

describe('a command', () => {
  test('gives 16 MiB of each output and no more, and how it ended', async (t) => {
    const { docker, client } = await setUp(t, ({ path }) => {
      if (path === `/containers/${HOLDER}/exec`) return { status: 201, body: { Id: 'e' } }
      return path === '/exec/e/json' ? { status: 200, body: { Running: false, ExitCode: 3, Pid: 9 } } : undefined
    })
    const mebibyte = Buffer.alloc(2 ** 20, 'x')
    const frame = (stream: number, payload: Buffer) => {
      const header = Buffer.alloc(8)
      header[0] = stream
      header.writeUInt32BE(payload.length, 4)
      return Buffer.concat([header, payload])
    }
    docker.output = [...Array.from({ length: 18 }, () => frame(1, mebibyte)), frame(2, Buffer.from('an error'))]
    const { stdout, stderr, exitCode } = await client.execSync(
      { containerId: HOLDER, cmd: ['yes'], timeout: 0n },
      signal,
    )
    assert.deepEqual([stdout.length, Buffer.from(stderr).toString(), exitCode], [16 * 2 ** 20, 'an error', 3])
  })
})
