import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { listCleanMappings } from './list-clean-mappings.ts'

const mapping = (head: string, measures: Readonly<Record<string, number>>) =>
  [
    head,
    ...Object.entries({ Rss: 4096, Anonymous: 0, Private_Dirty: 0, ...measures }).map(
      ([name, kilobytes]) => `${name}: ${' '.repeat(10)} ${kilobytes} kB`,
    ),
    'VmFlags: rd ex mr mw me',
  ].join('\n')

test('listCleanMappings() names what the kernel can read again, and nothing that would be lost', () => {
  const smaps = [
    mapping('00400000-00800000 r--p 00000000 fe:01 42                   /usr/bin/node', {}),
    mapping('00800000-03400000 r-xp 00400000 fe:01 42                   /usr/bin/a node', {}),
    // Relocations, which the dynamic linker wrote before it took its right to write away.
    mapping('03400000-03500000 r--p 03000000 fe:01 42                   /usr/bin/node', { Anonymous: 1024 }),
    mapping('03500000-03600000 r--p 03100000 fe:01 42                   /usr/bin/node', { Private_Dirty: 4 }),
    mapping('03600000-03700000 rw-p 03200000 fe:01 42                   /usr/bin/node', {}),
    mapping('03700000-03800000 r--s 00000000 00:05 7                    /dev/shm/shared', {}),
    mapping('03800000-03900000 r-xp 00000000 00:00 0 ', {}),
    mapping('03900000-03a00000 r-xp 00000000 00:00 0                    [vdso]', {}),
    mapping('03a00000-03b00000 r-xp 00000000 fe:01 43                   /lib/libc.so.6', { Rss: 252 }),
    '03b00000-03c00000 r-xp 00000000 fe:01 43                   /lib/of-an-older-kernel',
    '',
  ].join('\n')
  assert.deepEqual(listCleanMappings(smaps), [
    { start: 0x400000n, bytes: 0x400000n },
    { start: 0x800000n, bytes: 0x2c00000n },
  ])
})

test('listCleanMappings() finds the code of this process', () => {
  assert.ok(listCleanMappings(readFileSync('/proc/self/smaps', 'latin1')).some(({ bytes }) => bytes > 10_000_000n))
})
