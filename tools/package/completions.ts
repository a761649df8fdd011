import { formatHelp } from '../../src/model/config/flags/help-text.ts'
import { commandNames, helpText } from '../../src/standalone/help.ts'

// An option stands at the beginning of its line, perhaps after its short form.
const OPTION = /^ +(?:-\w, )?(--[a-z][\w-]*)/gm

/** The completions by the names of their files, from the words of --help. zsh reads them after "bashcompinit". */
export function completions(): ReadonlyMap<string, string> {
  const cases = commandNames.map((name) => {
    const words = name === 'help' ? commandNames : optionsOf(helpText(name))
    return `    ${name}) words=${quoted(words)} ;;`
  })
  const deckhand = `# Completes "deckhand" in bash.
_deckhand() {
  local words='' word=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=${quoted(commandNames)}
  else case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _deckhand deckhand
`
  const kubelet = `# Completes "kubelet" in bash.
complete -o default -W ${quoted(optionsOf(formatHelp()))} kubelet
`
  return new Map([
    ['deckhand.bash', deckhand],
    ['kubelet.bash', kubelet],
  ])
}

function optionsOf(help: string): readonly string[] {
  return [...new Set([...help.matchAll(OPTION)].map(([, option = '']) => option))].toSorted()
}

function quoted(words: readonly string[]): string {
  return `'${words.join(' ')}'`
}
