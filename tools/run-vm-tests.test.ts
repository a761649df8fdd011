import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { vmSuites } from '../test/vm/suites.ts'
import { parseVmOptions } from './run-vm-tests.ts'

describe('parseVmOptions()', () => {
  test('is every release with every suite', () => {
    const { releases, suites, keep } = parseVmOptions([])
    assert.deepEqual(
      releases.map(({ number }) => number),
      ['12', '13'],
    )
    assert.deepEqual([suites, keep], [vmSuites, false])
  })

  test('takes one release, and some suites in the order of the table', () => {
    const options = parseVmOptions(['--release', '13', '--only', 'cgroups,start'])
    assert.deepEqual(
      [options.releases.map(({ suite }) => suite), options.suites.map(({ name }) => name)],
      [['trixie'], ['start', 'cgroups']],
    )
  })

  test('takes another architecture and fewer power cuts; twenty without it', () => {
    const { hardware, powerCuts } = parseVmOptions(['--arch', 'arm64', '--power-cuts', '3'])
    assert.deepEqual([hardware.node, powerCuts], ['arm64', 3])
    assert.equal(parseVmOptions([]).powerCuts, 20)
  })

  const mistakes: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [['--release', '7'], /Cannot use --release "7": expected 12, 13\nUsage: /],
    [['--only', 'party'], /Cannot use --only "party": expected start, /],
    [['--arch', 'z80'], /Cannot use --arch "z80": expected amd64, arm64\n/],
    [['--power-cuts', 'some'], /Cannot use --power-cuts "some": expected a number above 0\n/],
    [['--fast'], /Cannot read the arguments: .*--fast/],
  ]
  for (const [args, message] of mistakes)
    test(`says what is wrong: ${args.join(' ')}`, () => {
      assert.throws(() => parseVmOptions(args), message)
    })
})

test('suites and the checks of each have names of their own', () => {
  const names = vmSuites.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  for (const { name, checks } of vmSuites)
    assert.equal(new Set(checks.map((check) => check.name)).size, checks.length, name)
})
