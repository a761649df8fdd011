import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readContainerContext } from './read-container-context.ts'

const FILE = 'system_u:object_r:container_file_t:s0'
const lxc = `process = "system_u:system_r:container_t:s0"\ncontent = "x"\nfile = "${FILE}"\n# file = "y"\n`

const rows: readonly (readonly [string, Readonly<Record<string, string>>, string | undefined])[] = [
  [
    'of the policy in use',
    { '/etc/selinux/config': 'SELINUXTYPE=mls\n', '/etc/selinux/mls/contexts/lxc_contexts': lxc },
    FILE,
  ],
  ['of the usual policy', { '/etc/selinux/targeted/contexts/lxc_contexts': lxc }, FILE],
  [
    'of the containers before that',
    {
      '/usr/share/containers/selinux/contexts': 'file = "u:r:t:s0"',
      '/etc/selinux/targeted/contexts/lxc_contexts': lxc,
    },
    'u:r:t:s0',
  ],
  ['nowhere', { '/etc/selinux/config': '' }, undefined],
]

describe('readContainerContext()', () => {
  for (const [name, files, expected] of rows)
    test(`finds it ${name}`, () =>
      assert.equal(
        readContainerContext((path) => files[path]),
        expected,
      ))
})
