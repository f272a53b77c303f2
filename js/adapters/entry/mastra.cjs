'use strict';

module.exports = require('../mastra.js')(require('@mastra/core/tools'));
