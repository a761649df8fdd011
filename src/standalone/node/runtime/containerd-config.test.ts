import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { containerdPaths, createContainerdConfig, parseContainerdRelease } from './containerd-config.ts'

const paths = containerdPaths('/state/containerd')
const options = {
  sandboxImage: 'example.test/pause:1',
  snapshotter: 'native',
  ociRuntime: 'crun',
  handlers: ['runc', 'second'],
} as const

/** By section; the lines before the first one belong to "". */
function readConfig(major: number, minor: number): ReadonlyMap<string, readonly string[]> {
  const sections = createContainerdConfig(paths, { ...options, release: { major, minor } }).split(/^\[(.*)\]$/m)
  const names = ['', ...sections.filter((_, index) => index % 2 === 1)]
  return new Map(names.map((name, index) => [name, (sections[index * 2] ?? '').trim().split('\n')]))
}

describe('createContainerdConfig()', () => {
  const wanted = {
    top: ['root = "/state/containerd/root"', 'state = "/state/containerd/state"'],
    streaming: ['disable_tcp_service = true', 'stream_server_address = "127.0.0.1"', 'stream_server_port = "0"'],
    running: ['restrict_oom_score_adj = true', 'netns_mounts_under_state_dir = true'],
    handler: ['BinaryName = "crun"', 'SystemdCgroup = false', 'Root = "/state/containerd/runc"'],
    cni: ['bin_dir = "/usr/lib/cni"', 'conf_dir = "/state/containerd/cni"'],
  }

  test('keeps all of containerd 1 below its folder', () => {
    for (const minor of [6, 7]) {
      const config = readConfig(1, minor)
      const cri = 'plugins."io.containerd.grpc.v1.cri"'
      assert.deepEqual(config.get('')?.slice(0, 3), ['version = 2', ...wanted.top])
      assert.deepEqual(config.get('grpc'), ['address = "/state/containerd/containerd.sock"'])
      assert.deepEqual(config.get(cri), [
        'sandbox_image = "example.test/pause:1"',
        ...wanted.running,
        ...(minor === 6 ? [] : ['enable_cdi = true']),
        ...wanted.streaming,
      ])
      assert.deepEqual(config.get(`${cri}.containerd`), ['snapshotter = "native"', 'default_runtime_name = "runc"'])
      for (const handler of ['runc', 'second'])
        assert.deepEqual(config.get(`${cri}.containerd.runtimes.${handler}.options`), wanted.handler)
      assert.deepEqual(config.get(`${cri}.cni`), wanted.cni)
      assert.deepEqual(config.get(`${cri}.registry`), ['config_path = "/state/containerd/registries"'])
      assert.equal(config.has('plugins."io.containerd.nri.v1.nri"'), minor > 6)
    }
  })

  test('asks containerd 2 for the same in its own words', () => {
    const config = readConfig(2, 1)
    const [runtime, images] = ['plugins."io.containerd.cri.v1.runtime"', 'plugins."io.containerd.cri.v1.images"']
    assert.deepEqual(config.get('')?.slice(0, 3), ['version = 3', ...wanted.top])
    assert.deepEqual(config.get('plugins."io.containerd.grpc.v1.cri"'), wanted.streaming)
    assert.deepEqual(config.get('plugins."io.containerd.nri.v1.nri"'), ['disable = true'])
    assert.deepEqual(config.get(images), ['snapshotter = "native"'])
    assert.deepEqual(config.get(`${images}.pinned_images`), ['sandbox = "example.test/pause:1"'])
    assert.deepEqual(config.get(`${images}.registry`), ['config_path = "/state/containerd/registries"'])
    assert.deepEqual(config.get(runtime), [...wanted.running, 'enable_cdi = true'])
    assert.deepEqual(config.get(`${runtime}.containerd`), ['default_runtime_name = "runc"'])
    for (const handler of ['runc', 'second'])
      assert.deepEqual(config.get(`${runtime}.containerd.runtimes.${handler}.options`), wanted.handler)
    assert.deepEqual(config.get(`${runtime}.cni`), wanted.cni)
  })

  test('rejects a folder too deep for a unix socket', () => {
    assert.throws(
      () => containerdPaths(`/${'x'.repeat(90)}`),
      /Cannot use "\/x+" for containerd: the path of its socket/,
    )
  })
})

describe('parseContainerdRelease()', () => {
  for (const [printed, expected] of [
    ['containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3', { major: 1, minor: 6 }],
    ['containerd github.com/containerd/containerd/v2 2.1.9+ds1 2.1.9+ds1-5', { major: 2, minor: 1 }],
    ['containerd containerd.io v1.7.27 05044ec0a9a75232cad458027ca83437aae3f4da', { major: 1, minor: 7 }],
    ['containerd github.com/containerd/containerd/v2 main.m', undefined],
    ['', undefined],
  ] as const) {
    test(`reads ${JSON.stringify(printed)}`, () => assert.deepEqual(parseContainerdRelease(printed), expected))
  }
})
