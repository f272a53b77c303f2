'use strict';

module.exports = require('../langchain.js')({
  ...require('@langchain/core/messages'),
  ...require('@langchain/core/tools'),
});
