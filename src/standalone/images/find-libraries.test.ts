import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { systemClock } from '../../base/async/clock.ts'
import { findLibraries, parseLibraryList, readInterpreter } from './find-libraries.ts'

describe('findLibraries', () => {
  test('lists what a program of this machine is loaded with, the loader included', async () => {
    const { signal } = new AbortController()
    const libraries = await findLibraries(systemClock, '/bin/sh', signal)
    assert.ok(
      libraries.some((path) => /\/libc\.[^/]*$/.test(path)),
      libraries.join(' '),
    )
    assert.ok(libraries.includes(readInterpreter(readFileSync('/bin/sh')) ?? ''))
    for (const path of libraries) assert.ok(readFileSync(path).length > 0)
  })

  test('finds nothing for what is no dynamic program', async () => {
    const { signal } = new AbortController()
    assert.deepEqual(await findLibraries(systemClock, import.meta.filename, signal), [])
  })

  test('reads the list of the GNU loader, and of that of musl', () => {
    const text = `	linux-vdso.so.1 (0x00007f8352281000)
	libresolv.so.2 => /lib/x86_64-linux-gnu/libresolv.so.2 (0x00007f83521a0000)
	/lib64/ld-linux-x86-64.so.2 (0x00007f8352283000)
`
    assert.deepEqual(parseLibraryList(text), ['/lib/x86_64-linux-gnu/libresolv.so.2', '/lib64/ld-linux-x86-64.so.2'])
    const musl = `	/lib/ld-musl-x86_64.so.1 (0x7f1d5c0c8000)
	libc.musl-x86_64.so.1 => /lib/ld-musl-x86_64.so.1 (0x7f1d5c0c8000)
`
    assert.deepEqual(new Set(parseLibraryList(musl)), new Set(['/lib/ld-musl-x86_64.so.1']))
  })
})
