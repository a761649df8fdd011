import { ContainerConfigError } from '../config-error.ts'

/** Gives the value of a variable, or undefined for one that is not set. */
export type VariableLookup = (name: string) => string | undefined

const REFERENCE = /\$(?:\$|\(([^)]*)\))/g

/** Puts values for $(NAME) and "$" for "$$", in one pass; everything else stays as it is, unknown names included. */
export function expandVariables(text: string, lookup: VariableLookup): string {
  return text.replace(REFERENCE, (reference, name: string | undefined) =>
    name === undefined ? '$' : (lookup(name) ?? reference),
  )
}

/** As expandVariables(), for a subPathExpr, where a name without a value would make another path than was meant. */
export function expandSubPath(text: string, lookup: VariableLookup): string {
  return expandVariables(text, (name) => {
    const value = lookup(name)
    if (value === undefined || value === '') throw new ContainerConfigError(`missing value for "${name}"`)
    return value
  })
}
