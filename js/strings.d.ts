/**
 * Questions of kind "text": importing this module lets `Survey.parse` read surveys that ask them. `Survey.fetch` imports it by
 * itself where a survey needs it.
 */
export {};
