import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { containerdPaths, createContainerdConfig } from './containerd-config.ts'

describe('createContainerdConfig()', () => {
  test('keeps all of containerd below its folder', () => {
    const paths = containerdPaths('/state/containerd')
    const config = createContainerdConfig(paths, { sandboxImage: 'example.test/pause:1', snapshotter: 'native' })
    for (const line of [
      'version = 2',
      'root = "/state/containerd/root"',
      'state = "/state/containerd/state"',
      'address = "/state/containerd/containerd.sock"',
      'sandbox_image = "example.test/pause:1"',
      'restrict_oom_score_adj = true',
      'netns_mounts_under_state_dir = true',
      'snapshotter = "native"',
      '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]',
      'Root = "/state/containerd/runc"',
      'conf_dir = "/state/containerd/cni"',
      'config_path = "/state/containerd/registries"',
    ]) {
      assert.ok(config.split('\n').includes(line), line)
    }
  })

  test('rejects a folder too deep for a unix socket', () => {
    assert.throws(
      () => containerdPaths(`/${'x'.repeat(90)}`),
      /Cannot use "\/x+" for containerd: the path of its socket/,
    )
  })
})
