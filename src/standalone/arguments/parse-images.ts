import { resolve } from 'node:path'
import type { ImagesAction, ImagesOptions } from '../images/images-options.ts'
import { DEFAULT_STATE, parseNamed, textOption, wrong } from './parse-options.ts'

/** What "images" is to do. */
export function parseImages(args: readonly string[], folder: string): ImagesOptions {
  const { values, names } = parseNamed(args, {
    state: textOption,
    name: textOption,
    output: { ...textOption, short: 'o' },
  })
  const [action, ...others] = names
  if (values['name'] !== undefined && action !== 'load') throw wrong('Cannot use --name: it is for "images load"')
  if (values['output'] !== undefined && action !== 'save') throw wrong('Cannot use --output: it is for "images save"')
  return {
    state: resolve(folder, values['state'] ?? DEFAULT_STATE),
    action: toImagesAction(action, { names: others, values, folder }),
  }
}

function toImagesAction(
  action: string | undefined,
  given: {
    readonly names: readonly string[]
    readonly values: Readonly<Record<string, string | undefined>>
    readonly folder: string
  },
): ImagesAction {
  const { names, values, folder } = given
  const path = (file: string) => (file === '-' ? file : resolve(folder, file))
  if (action === 'ls' && names.length > 0) throw wrong(`Cannot list "${names[0]}": expected nothing after "ls"`)
  if ((action === 'pull' || action === 'rm' || action === 'save') && names.length === 0)
    throw wrong(`Cannot do "images ${action}": expected the name of an image`)
  switch (action) {
    case 'ls':
      return { kind: action }
    case 'pull':
    case 'rm':
      return { kind: action, names }
    case 'load': {
      const files = names.length === 0 ? ['-'] : names.map(path)
      if (files.length > 1 && values['name'] !== undefined)
        throw wrong('Cannot use --name with several files: expected one')
      return { kind: action, files, name: values['name'] }
    }
    case 'save': {
      const { output = '-' } = values
      return { kind: action, names, file: output === '-' ? undefined : path(output) }
    }
    default:
      throw wrong(`Cannot do "images ${action ?? ''}": expected ls, pull, load, save or rm`)
  }
}
