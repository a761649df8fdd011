import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { commandNames } from '../../src/standalone/help.ts'
import { completions } from './completions.ts'
import { manualPages } from './manual-pages.ts'

describe('the manual pages', () => {
  const pages = manualPages('1.2.3')

  test('have a part for each command, and the options of the agent', () => {
    const page = pages.get('deckhand.1') ?? ''
    for (const name of commandNames) assert.ok(page.includes(`.SH ${name.toUpperCase()}\n`), name)
    assert.match(page, /^\.TH DECKHAND 1 "" "Deckhand 1\.2\.3"$/m)
    assert.match(pages.get('kubelet.8') ?? '', /\\-\\-container\\-runtime\\-endpoint/)
  })

  test('have no line that roff takes for a command of its own', () => {
    for (const page of pages.values())
      for (const line of page.split('\n').filter((text) => /^[.']/.test(text)))
        assert.match(line, /^\.(?:TH|SH|nf|fi)\b/)
  })
})

describe('the completion of bash', () => {
  const complete = (words: readonly string[]) => {
    const script = `${completions().get('deckhand.bash')}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _deckhand; echo "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' })
    assert.equal(stderr, '')
    return stdout.trim().split(' ')
  }

  test('knows the commands, also after "help"', () => {
    assert.deepEqual(complete(['deckhand', 'un']), ['uninstall'])
    assert.deepEqual(complete(['deckhand', 'help', 'sim']), ['simulate'])
  })

  test('knows the options of a command, and of no other', () => {
    assert.deepEqual(complete(['deckhand', 'up', '--man']), ['--manifests'])
    assert.deepEqual(complete(['deckhand', 'status', '--man']), [''])
  })

  test('knows the flags of the agent', () => {
    const { stdout } = spawnSync('bash', ['-c', `${completions().get('kubelet.bash')}complete -p kubelet`], {
      encoding: 'utf8',
    })
    assert.match(stdout, / --node-labels /)
  })
})
