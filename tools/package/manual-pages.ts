import { formatHelp } from '../../src/model/config/flags/help-text.ts'
import { commandNames, helpText } from '../../src/standalone/help.ts'

/** The manual pages by the names of their files: what --help prints, for man. */
export function manualPages(version: string): ReadonlyMap<string, string> {
  return new Map([
    [
      'deckhand.1',
      page({ name: 'deckhand', section: 1, version, about: 'a Kubernetes node on one machine' }, [
        ['Overview', helpText()],
        ...commandNames.map((name): [string, string] => [name, helpText(name)]),
      ]),
    ],
    [
      'kubelet.8',
      page({ name: 'kubelet', section: 8, version, about: 'the node agent of Kubernetes (Deckhand)' }, [
        ['Description', formatHelp()],
      ]),
    ],
  ])
}

interface Title {
  readonly name: string
  readonly section: number
  readonly version: string
  readonly about: string
}

function page({ name, section, version, about }: Title, parts: readonly (readonly [string, string])[]): string {
  const blocks = parts.map(([title, text]) => `.SH ${title.toUpperCase()}\n.nf\n${escapeText(text)}\n.fi`)
  const heading = `.TH ${name.toUpperCase()} ${section} "" "Deckhand ${version}"\n.SH NAME\n${name} \\- ${about}`
  return `${[heading, ...blocks].join('\n')}\n`
}

/** Lines that begin with a dot or a quote would be commands of roff, and a backslash begins one anywhere. */
function escapeText(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&')
    .replaceAll(
      /\P{ASCII}/gu,
      (character) => `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
}
