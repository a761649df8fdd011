import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { openCgroupFiles } from './cgroup-files.ts'

/** A tree with the files that a kernel would have made. */
function makeTree(t: TestContext, files: Readonly<Record<string, string>>): string {
  const mount = mkdtempSync(join(tmpdir(), 'deckhand-cgroups-'))
  t.after(() => rmSync(mount, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(mount, path)), { recursive: true })
    writeFileSync(join(mount, path), text)
  }
  return mount
}

const read = (mount: string, path: string) => readFileSync(join(mount, path), 'utf8')

describe('cgroup v2', () => {
  const files = {
    'cgroup.controllers': 'cpuset cpu io memory hugetlb pids rdma\n',
    'cgroup.subtree_control': 'cpu memory\n',
    'whole/cgroup.controllers': 'cpuset cpu memory hugetlb pids\n',
    'whole/cpu.weight': '100\n',
    'whole/memory.max': 'max\n',
    'whole/hugetlb.2MB.max': 'max\n',
    'part/cgroup.controllers': 'cpu memory\n',
    'part/cgroup.subtree_control': '',
    'part/pod/cgroup.controllers': 'cpu\n',
  }

  test('a cgroup is there when it has every controller that pods need and the kernel knows', (t) => {
    const cgroups = openCgroupFiles(2, makeTree(t, files))
    const all = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids']
    assert.deepEqual(
      ['/', '/whole', '/part', '/none'].map((path) => [cgroups.exists(path), cgroups.missing(path)]),
      [
        [true, []],
        [true, []],
        [true, ['cpuset', 'hugetlb', 'pids']],
        [false, all],
      ],
    )
    const old = openCgroupFiles(2, makeTree(t, { ...files, 'cgroup.controllers': 'cpu memory' }))
    assert.deepEqual(old.missing('/part'), [])
  })

  test('values stand in their files, and a file that a kernel may lack is no harm', async (t) => {
    const mount = makeTree(t, files)
    const cgroups = openCgroupFiles(2, mount)
    const hugepages = { controller: 'hugetlb', text: '7' } as const
    cgroups.write('/whole', [
      { controller: 'cpu', file: 'cpu.weight', text: '39' },
      { ...hugepages, file: 'hugetlb.2MB.max' },
      { ...hugepages, file: 'hugetlb.2MB.rsvd.max', optional: true },
    ])
    await cgroups.change('/whole', [
      { controller: 'memory', file: 'memory.max', text: '1000' },
      { ...hugepages, file: 'hugetlb.1GB.rsvd.max', optional: true },
    ])
    // A plain file keeps the rest of what was longer; the kernel's does not.
    assert.deepEqual(
      ['cpu.weight', 'hugetlb.2MB.max', 'memory.max'].map((file) => read(mount, `whole/${file}`)),
      ['390\n', '7ax\n', '1000'],
    )
    const lost = { controller: 'memory', file: 'memory.low', text: '1' } as const
    assert.throws(() => cgroups.write('/whole', [lost]), /^Error: Cannot write "1" to ".*memory\.low": ENOENT$/)
    await assert.rejects(cgroups.change('/whole', [lost]), /^Error: Cannot write "1" to ".*memory\.low": ENOENT$/)
  })

  test('a controller that the kernel lacks is an error, unless there is nothing to limit without it', (t) => {
    const cgroups = openCgroupFiles(2, makeTree(t, { 'cgroup.controllers': 'cpu memory', 'a/cpu.weight': '' }))
    cgroups.write('/a', [
      { controller: 'hugetlb', file: 'hugetlb.2MB.max', text: '0' },
      { controller: 'cpuset', file: 'cpuset.cpus', text: '0' },
    ])
    assert.throws(
      () => cgroups.write('/a', [{ controller: 'pids', file: 'pids.max', text: '5' }]),
      /Cannot write "5" to pids\.max of cgroup "\/a": the kernel has no controller pids/,
    )
  })

  test('those above are asked to pass controllers on, and it is reported when they do not', (t) => {
    const mount = makeTree(t, files)
    const cgroups = openCgroupFiles(2, mount)
    cgroups.make('/whole')
    assert.equal(read(mount, 'cgroup.subtree_control'), 'cpu memory\n', 'not when nothing is missing')
    assert.throws(
      () => cgroups.make('/part/pod'),
      /Cannot make cgroup "\/part\/pod": it has no cpuset, memory, hugetlb, pids/,
    )
    assert.equal(read(mount, 'cgroup.subtree_control'), '+cpuset +hugetlb +pids')
    assert.equal(read(mount, 'part/cgroup.subtree_control'), '+cpu +cpuset +memory +hugetlb +pids')
  })
})

describe('cgroup v1', () => {
  function makeHierarchies(t: TestContext, names = ['cpu,cpuacct', 'memory', 'pids', 'cpuset']): string {
    const mount = makeTree(t, {
      'cpuset/cpuset.cpus': '0-3\n',
      'cpuset/cpuset.mems': '0\n',
      'cpuset/a/cpuset.cpus': '\n',
      'cpuset/a/cpuset.mems': '1\n',
      'cpuset/a/b/cpuset.cpus': '\n',
      'cpuset/a/b/cpuset.mems': '\n',
    })
    for (const name of names) {
      mkdirSync(join(mount, name), { recursive: true })
      writeFileSync(join(mount, name, 'cgroup.procs'), '')
    }
    if (names.includes('cpu,cpuacct')) {
      for (const name of ['cpu', 'cpuacct']) symlinkSync('cpu,cpuacct', join(mount, name))
    }
    return mount
  }

  test('a cgroup is one folder for each hierarchy, and a new cpuset is like the one above', (t) => {
    const mount = makeHierarchies(t)
    const cgroups = openCgroupFiles(1, mount)
    assert.deepEqual(cgroups.missing('/a/b'), ['cpu', 'cpuacct', 'memory', 'pids'])
    assert.equal(cgroups.exists('/a/b'), false)
    cgroups.make('/a/b')
    assert.deepEqual([cgroups.exists('/a/b'), cgroups.missing('/a/b')], [true, []])
    assert.deepEqual(
      cgroups.folders('/a/b').map((folder) => folder.slice(mount.length)),
      ['/cpu,cpuacct/a/b', '/cpuset/a/b', '/memory/a/b', '/pids/a/b'],
    )
    assert.deepEqual(
      ['a/cpuset.cpus', 'a/b/cpuset.cpus', 'a/b/cpuset.mems'].map((file) => read(mount, `cpuset/${file}`)),
      ['0-3', '0-3', '1'],
    )
  })

  test('without the controllers that pods need there is no way to begin', (t) => {
    const mount = makeHierarchies(t, ['cpu', 'cpuset'])
    assert.throws(() => openCgroupFiles(1, mount), /cpuacct, memory not mounted, expected cpu, cpuacct, cpuset, memory/)
  })

  test('a folder in which no hierarchy is mounted is none', (t) => {
    const mount = makeHierarchies(t)
    mkdirSync(join(mount, 'hugetlb'))
    const cgroups = openCgroupFiles(1, mount)
    assert.equal(cgroups.controllers.has('hugetlb'), false)
    cgroups.make('/a')
    cgroups.write('/a', [{ controller: 'hugetlb', file: 'hugetlb.2MB.limit_in_bytes', text: '0' }])
  })

  test('a process goes to every hierarchy', (t) => {
    const mount = makeHierarchies(t)
    const cgroups = openCgroupFiles(1, mount)
    for (const folder of cgroups.folders('')) writeFileSync(`${folder}/cgroup.procs`, '')
    cgroups.addProcess('', 17)
    assert.deepEqual(
      cgroups.folders('').map((folder) => readFileSync(`${folder}/cgroup.procs`, 'utf8')),
      ['17', '17', '17', '17'],
    )
  })
})
